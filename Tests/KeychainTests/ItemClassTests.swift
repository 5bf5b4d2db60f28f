import SecretMemory
import Testing

@testable import Keychain

/// The other classes, all attributes, uniqueness, references, programs' own passwords.
struct ItemClassTests {
  let store: TestStore
  let keychain: UserKeychain

  init() throws {
    store = try TestStore()
    keychain = try store.open()
  }

  private func add(_ attributes: ItemAttributes, _ text: String = "secret") throws -> ItemID {
    try keychain.add(attributes, accessControl: .unconstrained, secret: try secret(text))
  }

  private func value(_ attribute: ItemAttribute, _ number: Int) -> AttributeValue {
    switch attribute {
    case .keyRole: .text(number == 0 ? "private" : "public")
    case .keyType: .text(number == 0 ? "ec-p256" : "ed25519")
    default:
      switch attribute.kind {
      case .text: .text("text \(number)")
      case .number: .number(UInt32(number) + 1)
      case .bytes: .bytes([UInt8(number), 0, 255])
      case .flag: .flag(number == 0)
      }
    }
  }

  @Test(arguments: ItemClass.allCases)
  func `every attribute of a class is kept, found by and changed; those of other classes are refused`(
    itemClass: ItemClass
  ) throws {
    var attributes = ItemAttributes(itemClass: itemClass)
    for attribute in ItemAttribute.allCases where itemClass.has(attribute) {
      attributes.values[attribute] = value(attribute, 0)
    }
    let id = try add(attributes)
    #expect(try keychain.summary(of: id).attributes == attributes)
    #expect(try store.open().summary(of: id).attributes == attributes)
    for attribute in ItemAttribute.allCases {
      var query = ItemQuery()
      query.values[attribute] = value(attribute, 0)
      guard itemClass.has(attribute) else {
        var wrong = attributes
        wrong.values[attribute] = value(attribute, 0)
        #expect(throws: KeychainError.self) { try add(wrong) }
        #expect(try keychain.find(query).isEmpty)
        continue
      }
      #expect(try keychain.find(query).map(\.id) == [id], "\(attribute.name)")
      query.values[attribute] = value(attribute, 1)
      #expect(try keychain.find(query).isEmpty, "\(attribute.name)")
      try keychain.update(id, under: .unconstrained, changes: query, secret: nil)
      #expect(try keychain.find(query).map(\.id) == [id], "\(attribute.name)")
    }
  }

  @Test(arguments: ItemClass.allCases)
  func `an item is another one where one of the attributes that tell apart is another`(itemClass: ItemClass) throws {
    var attributes = ItemAttributes(itemClass: itemClass)
    for attribute in itemClass.identity { attributes.values[attribute] = value(attribute, 0) }
    _ = try add(attributes)
    var same = attributes
    same.label = "another label"
    #expect(throws: KeychainError.duplicateItem) { try add(same) }
    for attribute in itemClass.identity + [.synchronizable] {
      for other in [nil, value(attribute, attribute == .synchronizable ? 0 : 1)] {
        var different = attributes
        different.values[attribute] = other
        if attribute == .synchronizable, other == nil { continue }
        _ = try add(different)
        #expect(throws: KeychainError.duplicateItem) { try add(different) }
      }
    }
  }

  @Test func `classes with the same attributes do not meet`() throws {
    let generic = try add(ItemAttributes(account: "me"))
    let internet = try add(ItemAttributes(itemClass: .internetPassword, account: "me"))
    #expect(try keychain.find(ItemQuery(account: "me")).map(\.id) == [generic, internet])
    #expect(try keychain.find(ItemQuery(itemClass: .internetPassword, account: "me")).map(\.id) == [internet])
  }

  @Test(arguments: [
    (ItemAttribute.port, AttributeValue.number(65536)), (.server, .number(1)), (.server, .text("a\u{0}")),
    (.server, .text(String(repeating: "x", count: 4097))), (.invisible, .number(1)),
  ])
  func `a value that makes no sense is refused`(attribute: ItemAttribute, value: AttributeValue) throws {
    var attributes = ItemAttributes(itemClass: .internetPassword)
    attributes.values[attribute] = value
    #expect(throws: KeychainError.self) { try add(attributes) }
    #expect(try keychain.itemCount() == 0)
  }

  @Test func `a persistent reference names its item after changes, and nothing in another keychain`() throws {
    let id = try keychain.add("a")
    try keychain.add("b")
    let reference = keychain.persistentReference(of: id)
    var query = ItemQuery()
    query.persistentReference = reference
    #expect(try keychain.services(query) == ["a"])
    try keychain.update(id, under: .unconstrained, changes: ItemQuery(service: "renamed"), secret: nil)
    #expect(try keychain.services(query) == ["renamed"])
    query.service = "a"
    #expect(try keychain.services(query).isEmpty)
    query.service = nil

    try store.open(1001).add("theirs")
    #expect(try store.open(1001).find(query).isEmpty)
    for wrong in [[], [1], Array(reference.dropLast()), reference + [0], [UInt8](repeating: 0, count: reference.count)]
    {
      query.persistentReference = wrong
      #expect(try keychain.find(query).isEmpty)
    }
    query.persistentReference = reference
    #expect(try keychain.delete(query) == 1)
    #expect(try keychain.find(query).isEmpty)
    #expect(try keychain.services() == ["b"])
  }

  @Test func `an access control is changed together with the rest, or nothing is`() throws {
    let id = try keychain.add("a")
    let control = try AccessControl(constraints: [.biometryCurrentSet])
    // No finger is registered: the change fails as a whole.
    #expect(throws: KeychainError.self) {
      try keychain.update(
        id, under: .unconstrained, changes: ItemQuery(service: "b"), secret: try secret("new"),
        newAccessControl: control)
    }
    #expect(try keychain.secretText(id) == "secret")
    #expect(try keychain.services() == ["a"])
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    try keychain.update(
      id, under: .unconstrained, changes: ItemQuery(service: "b"), secret: nil, newAccessControl: control)
    #expect(try keychain.summary(of: id).accessControl == control)
    #expect(try keychain.secretText(id, control) == "secret")
    try keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    #expect(throws: KeychainError.self) { try keychain.secretText(id, control) }
  }

  @Test func `a finger of another set does not count for an item that has another way in`() throws {
    let control = try AccessControl(names: ["biometry-current-set", "or", "device-passcode"])
    try keychain.recordEnrolment(finger: 1, reader: "r", print: [1])
    let id = try keychain.add("a", "me", control)
    #expect(try keychain.takesFinger(try keychain.summary(of: id)))
    try keychain.recordEnrolment(finger: 2, reader: "r", print: [2])
    #expect(try !keychain.takesFinger(try keychain.summary(of: id)))
    // The secret is there for the passcode; attributes changed meanwhile do not renew it.
    #expect(try keychain.secretText(id, control) == "secret")
    try keychain.update(id, under: control, changes: ItemQuery(service: "b"), secret: nil)
    #expect(try !keychain.takesFinger(try keychain.summary(of: id)))
    let all = try keychain.add("all", "me", try AccessControl(names: ["biometry-any", "or", "device-passcode"]))
    #expect(try keychain.takesFinger(try keychain.summary(of: all)))
  }

  @Test func `without its program's password an item cannot be read, changed or moved`() throws {
    let control = try AccessControl(constraints: [.applicationPassword])
    func password(_ text: String, _ parameters: StretchingParameters = StretchingParameters(cost: .none)) throws
      -> StretchedPassword
    {
      try StretchedPassword(try secret(text), parameters: parameters)
    }
    let attributes = ItemAttributes(service: "vault")
    #expect(throws: KeychainError.applicationPasswordNeeded) {
      try keychain.add(attributes, accessControl: control, secret: try secret("x"))
    }
    let id = try keychain.add(
      attributes, accessControl: control, secret: try secret("deep"), applicationPassword: try password("open"))
    let parameters = try #require(try keychain.applicationPasswordParameters(of: id))
    func read(_ password: StretchedPassword?) throws -> [UInt8] {
      array(try keychain.secret(of: id, under: control, applicationPassword: password))
    }
    #expect(try read(try password("open", parameters)) == Array("deep".utf8))
    #expect(throws: KeychainError.applicationPasswordNeeded) { try read(nil) }
    #expect(throws: KeychainError.wrongApplicationPassword) { try read(try password("Open", parameters)) }
    #expect(throws: KeychainError.wrongApplicationPassword) { try read(try password("open")) }
    #expect(throws: KeychainError.wrongApplicationPassword) {
      try keychain.update(
        id, under: control, changes: ItemQuery(), secret: try secret("new"),
        applicationPassword: try password("wrong", parameters))
    }
    try keychain.update(
      id, under: control, changes: ItemQuery(service: "moved"), secret: try secret("new"),
      applicationPassword: try password("open", parameters))
    #expect(
      try read(try password("open", try #require(try keychain.applicationPasswordParameters(of: id))))
        == Array("new".utf8))
    let plain = try keychain.add("plain")
    #expect(try keychain.applicationPasswordParameters(of: plain) == nil)
  }
}
