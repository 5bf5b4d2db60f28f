internal import Bus

/// A reader that is there, or one that the caller trusts. Texts are free of control characters.
public struct WhorlReader: Hashable, Sendable {
  /// Its product name. A reader says it of itself.
  public var name = ""
  /// libfprint's name of its driver.
  public var driver = ""
  /// Its object of net.reactivated.Fprint; nil where it is not there.
  public var path: String?
  /// Whether its matches may open the caller's secrets.
  public var isTrusted = false
  /// Eight digits by which people name it, the same as long as it stands there; empty where nobody knows where that is.
  public var id = ""
  /// Where it stands, by the kernel's names.
  public var place = ""
  /// "fixed", "removable", "unknown" or "virtual"; empty where nobody knows where it stands.
  public var attachment = ""
  /// Whether it is there now.
  public var isPresent: Bool { path != nil }

  /// A reader without anything.
  public init() {}

  init(_ values: [String: BusValue]) {
    func text(_ key: String) -> String { printable(values[key]?.asString ?? "") }
    name = text("name")
    driver = text("driver")
    path = values["present"]?.asBool == true ? values["path"]?.asObjectPath ?? "" : nil
    isTrusted = values["trusted"]?.asBool ?? false
    id = text("id")
    place = text("place")
    attachment = text("attachment")
  }
}

/// What ``WhorlClient/adopt(fingers:on:in:)`` did. Texts are free of control characters.
public struct WhorlAdoption: Hashable, Sendable {
  /// The fingers that may open secrets since then.
  public var fingers: [String] = []
  /// The names of readers that have such fingers, and yet open nothing, for they are not trusted.
  public var untrustedReaders: [String] = []

  /// Nothing.
  public init() {}

  init(_ values: [String: BusValue]) {
    fingers = (values["fingers"]?.asStrings ?? []).prefix(10).map(printable)
    untrustedReaders = (values["untrusted-readers"]?.asStrings ?? []).prefix(64).map(printable)
  }
}
