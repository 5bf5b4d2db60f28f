import Bus

@testable import Enclave
@testable import FuzzKit
@testable import Keychain
@testable import WhorlDaemon

/// The parts of calls to org.whorl.Keychain1.
struct CallParts {
  /// The attributes of an item to add.
  func attributes(_ value: BusValue) throws {
    let attributes = try ItemCoding.attributes(value)
    for attribute in ItemAttribute.allCases {
      guard let value = attributes.values[attribute] else { continue }
      require(value != attribute.absentValue, "there is one form of no \(attribute.name)")
    }
    try attributes.validate()
    let body = ItemBody(attributes: attributes, created: 1, modified: 2)
    let stored = body.bytes.withUnsafeBytes { ItemBody($0) }
    require(stored?.attributes == attributes, "what is added can be stored and read")
    try comesBack(attributes)
  }

  /// What a search returns of an item is what was added.
  private func comesBack(_ attributes: ItemAttributes) throws {
    let item = ItemSummary(
      id: ItemID(1), attributes: attributes, accessControl: .unconstrained, created: 1, modified: 2, state: .present,
      storedSet: nil)
    let shown = try ItemCoding.summaries([FoundItem(item: item, reference: [1])])
    require(shown.count == 1, "an item is shown as one")
    guard let first = shown.first, var values = first.asOptions else {
      return require(false, "an item is shown as a dictionary")
    }
    for key in ["created", "modified", "protection", "constraints", "persistent-reference", "state"] {
      require(values.removeValue(forKey: key) != nil, "an item is shown with \(key)")
    }
    require(try ItemCoding.attributes(.options(values)) == attributes, "an item is shown as it was added")
  }

  /// A query, or attributes to change.
  func query(_ value: BusValue) throws {
    let query = try ItemCoding.query(value, what: "query key")
    guard query.persistentReference == nil else { return }
    let changed = try ItemAttributes(itemClass: query.itemClass ?? .genericPassword).applying(query)
    require(query.matches(changed), "what a query sets is what it finds")
    if query.namesItems { require(!query.values.isEmpty, "a query that names items has attributes") }
  }

  /// The protection and constraints of an item.
  func accessControl(_ value: BusValue) throws {
    var keys = try StrictOptions(value, what: "option")
    let control = try ItemCoding.newAccessControl(&keys)
    try keys.finish()
    guard let control else { return }
    require(try AccessControl(canonicalBytes: control.canonicalBytes) == control, "what is chosen can be stored")
    var again = try StrictOptions(
      .options([
        "protection": .string(control.protection.name), "constraints": .strings(control.names),
      ]), what: "option")
    require(try ItemCoding.accessControl(&again) == control, "what is chosen is shown as it was chosen")
  }

  /// What a call that may prompt says of that.
  func request(_ value: BusValue) throws {
    let request = try VerificationRequest(value)
    require(request.options.timeout >= 0 && request.options.maxTries >= 1, "a request has a timeout and tries")
  }

  /// Errors are known ones, and lines for people.
  static func check(_ error: any Error) {
    switch error {
    case let error as BusMethodError:
      require(error.name.hasPrefix("org.whorl.Error."), "errors have names of Whorl's")
      requireLine(error.message)
    case let error as KeychainError:
      requireLine(error.description)
      requireLine(EnclaveError.keychain(error).message)
    case let error as EnclaveError: requireLine(error.message)
    default: require(false, "an error of another kind: \(error)")
    }
  }

  // MARK: - Seeds

  static var seeds: [[UInt8]] {
    func number(_ word: String) -> UInt8 { UInt8(BusValue.words.firstIndex(of: word) ?? 255) }
    func text(_ word: String, _ text: String) -> [UInt8] { [number(word), 0, 0, UInt8(text.utf8.count)] + text.utf8 }
    let plain = text("service", "s") + text("account", "a") + text("label", "l")
    let all = ItemAttribute.allCases.flatMap { attribute -> [UInt8] in
      switch attribute.kind {
      case .text: text(attribute.name, "t")
      case .number: [number(attribute.name), 0, 0, 1, 0, 0, 0]
      case .bytes: [number(attribute.name), 0, 0, 2, 1, 2]
      case .flag: [number(attribute.name), 0, 0, 1]
      }
    }
    let control: [UInt8] = [number("protection"), 0, 4, number("constraints"), 0, 3, 12, 14, 18]
    let request: [UInt8] =
      [number("timeout"), 0, 30, 0, 0, 0, number("max-tries"), 0, 3, 0, 0, 0, number("no-wait"), 0, 1]
    let unknown: [UInt8] = [250, 5] + Array("other".utf8) + [0, 0, 1, 65]
    return [
      [0, 0] + plain, [1, 0] + plain, [1, 0] + all, [0, 0, number("class"), 0, 1] + text("server", "h"),
      [0, 0, number("class"), 0, 2] + [number("key-class"), 0, 0, 24], [2, 0] + control, [3, 0] + request,
      [0, 0] + unknown, [1, 1, 15, 1, 1, 9, 1, 65, 17, 9, 1, 66], [1, 1, 18],
    ]
  }
}
