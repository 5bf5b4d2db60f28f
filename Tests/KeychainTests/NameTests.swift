import SecretMemory
import Testing

@testable import Keychain

@Suite struct NameTests {
  @Test func `the names of what is supported are known`() throws {
    #expect(try ItemClass(name: "generic-password") == .genericPassword)
    #expect(try ProtectionClass(name: "always") == .always)
    #expect(try Constraint(name: "biometry-current-set") == .biometryCurrentSet)
  }

  @Test(arguments: ["certificate", "identity"])
  func `an item class that is not kept is refused by its name`(name: String) {
    #expect(throws: KeychainError.unsupported("the item class \(name)")) { try ItemClass(name: name) }
  }

  @Test func `every name leads back to its own`() throws {
    for itemClass in ItemClass.allCases { #expect(try ItemClass(name: itemClass.name) == itemClass) }
    for protection in ProtectionClass.allCases { #expect(try ProtectionClass(name: protection.name) == protection) }
    for constraint in Constraint.allCases { #expect(try Constraint(name: constraint.rawValue) == constraint) }
  }

  @Test(arguments: ["watch", "companion"])
  func `a constraint that Linux has nothing for is refused by its name`(name: String) {
    #expect(throws: KeychainError.unsupported("the constraint \(name)")) { try Constraint(name: name) }
  }

  @Test(arguments: [
    ["user-presence", "device-passcode"], ["and", "biometry-any"], ["or"], ["biometry-any", "biometry-any"],
    ["biometry-any", "device-passcode", "and", "or"], ["application-password", "or", "biometry-any"],
  ])
  func `constraints that do not say what is needed are refused`(names: [String]) {
    let error = #expect(throws: KeychainError.self) { try AccessControl(names: names) }
    guard case .invalidParameter = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `names of constraints in any order are the same access control`() throws {
    let one = try AccessControl(names: ["device-passcode", "or", "biometry-current-set", "application-password"])
    let other = try AccessControl(names: ["application-password", "biometry-current-set", "device-passcode", "or"])
    #expect(one == other)
    #expect(one.names == ["biometry-current-set", "device-passcode", "application-password", "or"])
    #expect(!one.isBoundToBiometrySet)
    #expect(try AccessControl(names: ["device-passcode", "and", "biometry-current-set"]).isBoundToBiometrySet)
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
    #expect(throws: KeychainError.unsupported("an access control of version 3")) {
      try AccessControl(canonicalBytes: [3, 1, 0])
    }
    // One access control has one form: not another order, no "and" of one, no several without a joint.
    for bytes in [[1, 1, 2, 4, 1], [1, 1, 2, 1, 4], [2, 1, 1, 1, 1], [2, 1, 1, 2, 4, 1], [1, 1, 2, 5, 5]] as [[UInt8]] {
      #expect(try AccessControl(canonicalBytes: bytes) == nil)
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
      .duplicateItem, .itemNotFound, .invalidated(at: 1), .passcodeRemoved(at: 1), .locked(.afterFirstUnlock),
      .locked(.whenUnlocked), .applicationPasswordNeeded, .wrongApplicationPassword, .tampered("item 1"),
      .corrupt("/a"),
      .tooNew(path: "/a", found: 2, known: 1), .unsupported("x"), .invalidParameter("x"), .tooLarge("x", limit: 1),
      .refusedFile("x"), .readOnly("/a"), .diskFull("/a"), .busy("/a"), .io("x"), .deviceKey("x"),
      .memory(.outOfMemory(bytes: 1)),
    ]
    for error in errors { #expect(!error.description.contains("\n") && !error.description.isEmpty) }
  }
}
