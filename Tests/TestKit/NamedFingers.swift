extension SyntheticFinger {
  /// A left loop.
  public static let ada = SyntheticFinger(pattern: .leftLoop, seed: 11)
  /// A right loop.
  public static let ben = SyntheticFinger(pattern: .rightLoop, seed: 22)
  /// A whorl.
  public static let cleo = SyntheticFinger(pattern: .whorl, seed: 33)
  /// A twin loop.
  public static let dora = SyntheticFinger(pattern: .twinLoop, seed: 44)
  /// An arch.
  public static let emil = SyntheticFinger(pattern: .arch, seed: 55)
  /// Another whorl, which must not pass for `cleo`.
  public static let finn = SyntheticFinger(pattern: .whorl, seed: 66)

  /// The names of the fingers above, for programs.
  public static let names = ["ada", "ben", "cleo", "dora", "emil", "finn"]

  /// The finger of that name, drawn at its first use; nil for any other text.
  public static func named(_ name: String) -> SyntheticFinger? {
    switch name {
    case "ada": ada
    case "ben": ben
    case "cleo": cleo
    case "dora": dora
    case "emil": emil
    case "finn": finn
    default: nil
    }
  }
}
