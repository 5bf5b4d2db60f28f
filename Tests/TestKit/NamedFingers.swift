extension SyntheticFinger {
  /// A left loop.
  public static let leftLoop = SyntheticFinger(pattern: .leftLoop, seed: 11)
  /// A right loop.
  public static let rightLoop = SyntheticFinger(pattern: .rightLoop, seed: 22)
  /// A whorl.
  public static let whorl = SyntheticFinger(pattern: .whorl, seed: 33)
  /// A twin loop.
  public static let twinLoop = SyntheticFinger(pattern: .twinLoop, seed: 44)
  /// An arch.
  public static let arch = SyntheticFinger(pattern: .arch, seed: 55)
  /// Another whorl, which must not pass for `whorl`.
  public static let secondWhorl = SyntheticFinger(pattern: .whorl, seed: 66)

  /// The names of the fingers above, for programs.
  public static let names = ["left-loop", "right-loop", "whorl", "twin-loop", "arch", "second-whorl"]

  /// The finger of that name, drawn at its first use; nil for any other text.
  public static func named(_ name: String) -> SyntheticFinger? {
    switch name {
    case "left-loop": leftLoop
    case "right-loop": rightLoop
    case "whorl": whorl
    case "twin-loop": twinLoop
    case "arch": arch
    case "second-whorl": secondWhorl
    default: nil
    }
  }
}
