import SecretMemory
import Testing

@testable import Keychain

@Suite struct NameTests {
  @Test func `the names of what is supported are known`() throws {
    #expect(try ItemClass(name: "generic-password") == .genericPassword)
    #expect(try ProtectionClass(name: "always") == .always)
    #expect(try Constraint(name: "biometry-current-set") == .biometryCurrentSet)
  }

  @Test(arguments: ItemClass.allCases.filter { $0 != .genericPassword })
  func `an item class of later is refused by its name`(itemClass: ItemClass) {
    let wanted = KeychainError.unsupported("the item class \(itemClass.name)")
    #expect(throws: wanted) { try ItemClass(name: itemClass.name) }
    #expect(throws: wanted) { try ItemAttributes(itemClass: itemClass).validate() }
  }

  @Test(arguments: ProtectionClass.allCases.filter { $0 != .always })
  func `a protection class of later is refused by its name`(protection: ProtectionClass) {
    let wanted = KeychainError.unsupported("the protection class \(protection.name)")
    #expect(throws: wanted) { try ProtectionClass(name: protection.name) }
    #expect(throws: wanted) { try AccessControl(protection: protection) }
  }

  @Test(arguments: ["application-password", "private-key-usage", "watch", "companion"])
  func `a constraint of later is refused by its name`(name: String) {
    #expect(throws: KeychainError.unsupported("the constraint \(name)")) { try Constraint(name: name) }
  }

  @Test func `several constraints are refused and not half kept`() {
    #expect(throws: KeychainError.unsupported("more than one constraint on an item")) {
      try AccessControl(constraints: [.userPresence, .devicePasscode])
    }
  }

  @Test(arguments: ["", "always ", "Always", "\u{1b}[2Jalways\n", String(repeating: "x", count: 100_000)])
  func `any other name is refused in one printable line`(name: String) throws {
    for error in [
      #expect(throws: KeychainError.self) { try ItemClass(name: name) },
      #expect(throws: KeychainError.self) { try ProtectionClass(name: name) },
      #expect(throws: KeychainError.self) { try Constraint(name: name) },
    ] {
      let text = try #require(error).description
      #expect(text.count < 200)
      #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
  }

  @Test func `the byte form of an access control reads back, and nothing else does`() throws {
    for accessControl in try AccessControl.all {
      let bytes = accessControl.canonicalBytes
      #expect(try AccessControl(canonicalBytes: bytes) == accessControl)
      #expect(try AccessControl(canonicalBytes: bytes + [0]) == nil)
      #expect(try AccessControl(canonicalBytes: Array(bytes.dropLast())) == nil)
    }
    #expect(throws: KeychainError.unsupported("an access control of version 2")) {
      try AccessControl(canonicalBytes: [2, 1, 0])
    }
    #expect(throws: KeychainError.unsupported("a protection class of number 99")) {
      try AccessControl(canonicalBytes: [1, 99, 0])
    }
    #expect(throws: KeychainError.unsupported("a constraint of number 99")) {
      try AccessControl(canonicalBytes: [1, 1, 1, 99])
    }
  }

  @Test func `every error is one line`() {
    let errors: [KeychainError] = [
      .duplicateItem, .itemNotFound, .invalidated(at: 1), .tampered("item 1"), .corrupt("/a"),
      .tooNew(path: "/a", found: 2, known: 1), .unsupported("x"), .invalidParameter("x"), .tooLarge("x", limit: 1),
      .refusedFile("x"), .readOnly("/a"), .diskFull("/a"), .busy("/a"), .io("x"), .deviceKey("x"),
      .memory(.outOfMemory(bytes: 1)),
    ]
    for error in errors { #expect(!error.description.contains("\n") && !error.description.isEmpty) }
  }
}
