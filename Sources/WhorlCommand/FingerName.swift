/// One of the ten fingers, by the name that `net.reactivated.Fprint` gives it.
struct FingerName: Sendable, Hashable {
  /// Such as `right-index-finger`.
  let name: String

  /// All ten, from the left thumb to the right little finger.
  static let all: [FingerName] = ["left", "right"].flatMap { hand in
    ["thumb", "index-finger", "middle-finger", "ring-finger", "little-finger"].map {
      FingerName(known: "\(hand)-\($0)")
    }
  }

  /// What `whorl enroll` takes when no finger is named.
  static let standard = FingerName(known: "right-index-finger")

  private init(known: String) { name = known }

  /// The finger of that name; `-finger` may be left out. Nil for any other text.
  init?(_ text: String) {
    guard let finger = Self.all.first(where: { $0.name == text || $0.name == "\(text)-finger" }) else { return nil }
    self = finger
  }

  /// In words: "right index finger".
  var words: String { String(name.map { $0 == "-" ? " " : $0 }) }

  /// A finger's name from the daemon in words; a name that is not one of the ten is shown escaped.
  static func words(for name: String) -> String {
    FingerName(name)?.words ?? Escaping.shown(name, limit: 64)
  }
}
