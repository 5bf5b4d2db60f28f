import WhorlClient

/// An item of the caller's keychain, whichever app keeps it. Its texts are the app's and not yet escaped.
struct KeptItem: Sendable, Equatable {
  /// Whose an item is.
  enum App: Sendable, Hashable {
    /// This command's, or the login keyring's.
    case own
    /// An app's, by the UTF-8 of its access group: names that only look alike are different ones.
    case group([UInt8])
    /// A program's that names no group.
    case none

    /// What a column shows.
    var shown: String {
      switch self {
      case .own: CommandItems.service
      case .none: "-"
      case .group(let bytes):
        // A group may be called like one of those two.
        String(decoding: bytes, as: UTF8.self) == CommandItems.service
          ? "\"\(CommandItems.service)\"" : KeptItem.column(String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  let item: WhorlItem

  init(_ item: WhorlItem) { self.item = item }

  /// The access group; empty where there is none.
  var group: String { item.attributes.accessGroup ?? "" }

  var app: App {
    guard group.isEmpty else { return .group(Array(group.utf8)) }
    let service = item.attributes.service
    let isOwn =
      service == CommandItems.service || service == KeyringItem.service
      || item.attributes.applicationTag?.starts(with: CommandItems.keyTagPrefix) == true
    return isOwn ? .own : .none
  }

  /// The class's bus name.
  var itemClass: String { item.attributes.itemClass ?? "" }

  /// What tells it apart for people: the service, the server with port and path, or the key's label (the tag where it
  /// has none, or the digits of its application label).
  var name: String {
    let attributes = item.attributes
    switch itemClass {
    case "internet-password":
      let port = attributes.port.map { $0 == 0 ? "" : ":\($0)" } ?? ""
      let path = attributes.path ?? ""
      return (attributes.server ?? "") + port + (path.isEmpty || path.hasPrefix("/") ? path : "/\(path)")
    case "key":
      if let label = attributes.label, !label.isEmpty { return label }
      if let tag = attributes.applicationTag, !tag.isEmpty, let text = String(validating: tag, as: UTF8.self) {
        return text
      }
      return (attributes.applicationLabel ?? []).map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0\(digits)" : digits
      }.joined()
    default: return attributes.service ?? ""
    }
  }

  /// Whose it is there; empty where the app does not say, and of a key.
  var account: String { item.attributes.account ?? "" }

  /// Every key may be used; what is to be shown is what that asks for.
  var constraints: [String] { item.constraints.filter { $0 != .privateKeyUsage }.map(\.rawValue) }

  var isGone: Bool { item.isInvalidated || item.isPasscodeRemoved }

  /// Whether `--service` means it: its name, or of an internet password the server alone. To the byte.
  func isNamed(_ text: String) -> Bool {
    [name, item.attributes.server].compactMap { $0 }.contains { Array($0.utf8) == Array(text.utf8) }
  }

  /// A text as a column: escaped, `-` for none, and in quotes where it is called so.
  static func column(_ text: String) -> String {
    text.isEmpty ? "-" : text == "-" ? "\"-\"" : Escaping.shown(text, limit: 4096)
  }
}
