/// One of the ten fingers, numbered as libfprint's `FpFinger` and as fprintd's print files are (1 to 10).
public enum Finger: UInt8, Sendable, CaseIterable, Hashable {
  case leftThumb = 1
  case leftIndex, leftMiddle, leftRing, leftLittle
  case rightThumb, rightIndex, rightMiddle, rightRing, rightLittle

  /// The name that `net.reactivated.Fprint` uses, such as `right-index-finger`.
  public var name: String {
    switch self {
    case .leftThumb: "left-thumb"
    case .leftIndex: "left-index-finger"
    case .leftMiddle: "left-middle-finger"
    case .leftRing: "left-ring-finger"
    case .leftLittle: "left-little-finger"
    case .rightThumb: "right-thumb"
    case .rightIndex: "right-index-finger"
    case .rightMiddle: "right-middle-finger"
    case .rightRing: "right-ring-finger"
    case .rightLittle: "right-little-finger"
    }
  }

  /// The finger of that `net.reactivated.Fprint` name; nil for any other text.
  public init?(name: String) {
    guard let finger = Finger.allCases.first(where: { $0.name == name }) else { return nil }
    self = finger
  }
}
