import Bus
import Foundation
import LocalAuthentication
import Security
import TestKit
import Testing
import WhorlClient

/// Status codes by what causes them; those of the usual calls are in SecItemTests.
@Suite(.timeLimit(.minutes(3))) struct SecItemStatusTests {
  private func item(_ more: [String: Any] = [:]) -> CFDictionary {
    let base: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: "a"]
    return base.merging(more) { $1 } as CFDictionary
  }

  private func read(_ more: [String: Any] = [:]) -> OSStatus {
    var found: AnyObject?
    return SecItemCopyMatching(item([kSecReturnData: true].merging(more) { $1 }), &found)
  }

  @Test func `Fingers of somebody else, lockout, and a context that has ended`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await Client(world).givePasscode(World.passcode)
    try await world.enroll(.leftLoop)
    let agent = try await OddAgent(world) { _ in throw BusMethodError.failed("not asked") }
    let probe = try await FprintProbe(world)
    try await world.keychain {
      let control = try #require(
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryAny, nil))
      #expect(SecItemAdd(item([kSecValueData: Data("x".utf8), kSecAttrAccessControl: control]), nil) == errSecSuccess)
    }
    async let refused = world.keychain { read() }
    try await agent.hears("Show")
    for _ in 1...3 {
      await probe.needsFinger()
      try await world.reader.press(.twinLoop)
    }
    #expect(try await refused == errSecAuthFailed)
    try await world.keychain {
      let context = LAContext(transport: WhorlEnclave.transport)
      context.invalidate()
      #expect(read([kSecUseAuthenticationContext: context]) == errSecInvalidContext)
    }
  }

  @Test func `An item with a password of the program's own, without it`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.keychain {
      let control = try #require(
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, .applicationPassword, nil))
      let context = LAContext(transport: WhorlEnclave.transport)
      #expect(context.setCredential(Data("pw".utf8), type: .applicationPassword))
      let more: [String: Any] = [
        kSecValueData: Data("x".utf8), kSecAttrAccessControl: control, kSecUseAuthenticationContext: context,
      ]
      #expect(SecItemAdd(item(more), nil) == errSecSuccess)
      #expect(read() == errSecAuthFailed)
      let wrong = LAContext(transport: WhorlEnclave.transport)
      #expect(wrong.setCredential(Data("other".utf8), type: .applicationPassword))
      #expect(read([kSecUseAuthenticationContext: wrong]) == errSecAuthFailed)
      #expect(read([kSecUseAuthenticationContext: context]) == errSecSuccess)
    }
  }

  @Test func `A keychain that is damaged is damaged, and not empty`() async throws {
    let world = try await World()
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    let always: [String: any Sendable] = [
      kSecValueData: Data("x".utf8), kSecAttrAccessible: kSecAttrAccessibleAlways,
    ]
    try await world.keychain { #expect(SecItemAdd(item(always), nil) == errSecSuccess) }
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    let files = FileManager.default.enumerator(atPath: world.state)?.compactMap { $0 as? String } ?? []
    let store = try #require(files.first { $0.hasSuffix("keychain.db") })
    try Data(repeating: 0x5A, count: 8192).write(to: URL(fileURLWithPath: world.state + "/" + store))
    try await world.startDaemon()
    try await world.keychain {
      #expect(read() == errSecDecode)
      #expect(SecItemCopyMatching(item(), nil) == errSecDecode)
      #expect(SecItemDelete(item()) == errSecDecode)
    }
  }
}
