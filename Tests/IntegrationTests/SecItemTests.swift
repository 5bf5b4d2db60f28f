import Bus
import Foundation
import GLibLoop
import LocalAuthentication
import Security
import TestKit
import Testing
import WhorlClient

/// Apple's keychain functions over a real whorld.
@Suite(.timeLimit(.minutes(3))) struct SecItemTests {
  /// A world whose user has unlocked his secrets.
  private func world() async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await Client(world).givePasscode(World.passcode)
    return world
  }

  /// The same with a finger, an item "a" behind it, and an agent that sees the questions.
  private func guardedWorld() async throws -> (World, OddAgent) {
    let world = try await world()
    try await world.enroll(.leftLoop)
    let agent = try await OddAgent(world) { _ in throw BusMethodError.failed("not asked") }
    try await world.keychain {
      let control = try #require(
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryAny, nil))
      #expect(
        SecItemAdd(item("a", [kSecValueData: Data("x".utf8), kSecAttrAccessControl: control]), nil) == errSecSuccess)
    }
    return (world, agent)
  }

  private func item(_ account: String, _ more: [String: Any] = [:]) -> CFDictionary {
    let base: [String: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: account,
    ]
    return base.merging(more) { $1 } as CFDictionary
  }

  @Test func `What is added is found, changed and deleted, whatever its bytes are`() async throws {
    let world = try await world()
    let values = [Data(), Data([0, 1, 0, 255]), Data("söme wörds 🔑".utf8), Data(repeating: 7, count: 1 << 20)]
    try await world.keychain {
      for (number, value) in values.enumerated() {
        let account = "acc\(number)"
        #expect(SecItemAdd(item(account, [kSecValueData: value]), nil) == errSecSuccess)
        #expect(SecItemAdd(item(account, [kSecValueData: value]), nil) == errSecDuplicateItem)
        var found: AnyObject?
        #expect(SecItemCopyMatching(item(account, [kSecReturnData: true]), &found) == errSecSuccess)
        #expect(found as? Data == value)
        let other = Data("other".utf8)
        #expect(SecItemUpdate(item(account), [kSecValueData: other] as CFDictionary) == errSecSuccess)
        #expect(SecItemCopyMatching(item(account, [kSecReturnData: true]), &found) == errSecSuccess)
        #expect(found as? Data == other)
        #expect(SecItemDelete(item(account)) == errSecSuccess)
        #expect(SecItemDelete(item(account)) == errSecItemNotFound)
        #expect(SecItemCopyMatching(item(account, [kSecReturnData: true]), &found) == errSecItemNotFound)
        #expect(found == nil)
      }
      let large = Data(repeating: 7, count: (1 << 20) + 1)
      #expect(SecItemAdd(item("large", [kSecValueData: large]), nil) == errSecDataTooLarge)
      #expect(SecItemUpdate(item("none"), [kSecValueData: Data()] as CFDictionary) == errSecItemNotFound)
    }
  }

  @Test func `Many are found in the order of adding, with what was asked for of each`() async throws {
    let world = try await world()
    try await world.keychain {
      let names = ["ö", "o\u{308}", "z", "a", "日本", ""]
      for name in names {
        #expect(
          SecItemAdd(item(name, [kSecValueData: Data(name.utf8), kSecAttrLabel: "L" + name]), nil) == errSecSuccess)
      }
      let query: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"]
      var found: AnyObject?
      let all = query.merging([
        kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnData: true,
        kSecReturnPersistentRef: true,
      ]) { $1 }
      #expect(SecItemCopyMatching(all as CFDictionary, &found) == errSecSuccess)
      let items = try #require(found as? [[String: Any]])
      #expect(
        items.map { Array(($0[kSecAttrAccount as String] as? String ?? "-").utf8) } == names.map { Array($0.utf8) })
      #expect(items.map { $0[kSecValueData as String] as? Data } == names.map { Data($0.utf8) })
      #expect(items.first?[kSecAttrLabel as String] as? String == "Lö")
      #expect(items.allSatisfy { $0[kSecAttrCreationDate as String] is Date })
      // One by its reference alone.
      let reference = try #require(items[3][kSecValuePersistentRef as String] as? Data)
      #expect(
        SecItemCopyMatching([kSecValuePersistentRef: reference, kSecReturnData: true] as CFDictionary, &found)
          == errSecSuccess)
      #expect(found as? Data == Data("a".utf8))
      // Two, and nothing but whether there are any.
      let two = query.merging([kSecMatchLimit: 2, kSecReturnData: true]) { $1 }
      #expect(SecItemCopyMatching(two as CFDictionary, &found) == errSecSuccess)
      #expect((found as? [Data])?.count == 2)
      #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
      // A change of all of them, and their end.
      #expect(SecItemUpdate(query as CFDictionary, [kSecAttrComment: "seen"] as CFDictionary) == errSecSuccess)
      let seen = query.merging([kSecAttrComment: "seen", kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]) {
        $1
      }
      #expect(SecItemCopyMatching(seen as CFDictionary, &found) == errSecSuccess)
      #expect((found as? [Data])?.count == names.count)
      #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
      #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
    }
  }

  @Test func `What is added can be given back at once`() async throws {
    let world = try await world()
    try await world.keychain {
      var added: AnyObject?
      let more: [String: Any] = [kSecValueData: Data("x".utf8), kSecReturnAttributes: true, kSecReturnData: true]
      #expect(SecItemAdd(item("a", more), &added) == errSecSuccess)
      let attributes = try #require(added as? [String: Any])
      #expect(attributes[kSecAttrAccount as String] as? String == "a")
      #expect(attributes[kSecValueData as String] as? Data == Data("x".utf8))
    }
  }

  @Test func `Deleting a whole class leaves what other programs have stored`() async throws {
    let world = try await world()
    #expect(try await world.whorl(["set", "mine", "--require", "none"], to: "kept").status == 0)
    try await world.keychain {
      #expect(SecItemAdd(item("a", [kSecValueData: Data("x".utf8)]), nil) == errSecSuccess)
      #expect(
        SecItemAdd(item("b", [kSecValueData: Data("x".utf8), kSecAttrAccessGroup: "other"]), nil) == errSecSuccess)
      let all = [kSecClass: kSecClassGenericPassword] as CFDictionary
      #expect(SecItemDelete(all) == errSecSuccess)
      #expect(SecItemDelete(all) == errSecItemNotFound)
      #expect(SecItemCopyMatching(item("b", [kSecAttrAccessGroup: "other"]), nil) == errSecSuccess)
      // What whorl keeps has no group.
      let plain: [String: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "whorl", kSecAttrAccount: "mine", kSecAttrAccessGroup: "",
        kSecReturnData: true,
      ]
      var found: AnyObject?
      #expect(SecItemCopyMatching(plain as CFDictionary, &found) == errSecSuccess)
      #expect(found as? Data == Data("kept".utf8))
    }
    #expect(try await world.whorl(["get", "mine"]).text == "kept")
  }

  @Test func `A guarded item prompts for its secret alone, and says what for`() async throws {
    let (world, agent) = try await guardedWorld()
    try await world.keychain {
      #expect(SecItemCopyMatching(item("a"), nil) == errSecSuccess)
      #expect(SecItemCopyMatching(item("a", [kSecReturnData: true]), nil) == errSecSuccess)
      var found: AnyObject?
      #expect(SecItemCopyMatching(item("a", [kSecReturnAttributes: true]), &found) == errSecSuccess)
      // May not prompt.
      let secret: [String: Any] = [kSecReturnData: true]
      for silent in [
        [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail], [kSecUseNoAuthenticationUI: true],
      ] as [[String: Any]] {
        #expect(
          SecItemCopyMatching(item("a", secret.merging(silent) { $1 }), &found) == errSecInteractionNotAllowed)
      }
      let skip: [String: Any] = [kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]
      #expect(SecItemCopyMatching(item("a", secret.merging(skip) { $1 }), &found) == errSecItemNotFound)
    }
    #expect(await agent.heard.isEmpty)
    async let read = world.keychain { () -> (OSStatus, Data?) in
      var found: AnyObject?
      let status = SecItemCopyMatching(
        item("a", [kSecReturnData: true, kSecUseOperationPrompt: "sign in to the shop"]), &found)
      return (status, found as? Data)
    }
    try await agent.hears("Show")
    #expect(await agent.details.first?["reason"]?.asString == "sign in to the shop")
    try await world.reader.press(.leftLoop)
    let (status, data) = try await read
    #expect(status == errSecSuccess && data == Data("x".utf8))
    #expect(await agent.heard.filter { $0 == "Show" }.count == 1)
    try await world.keychain { #expect(SecItemDelete(item("a")) == errSecSuccess) }
  }

  @Test func `The wrong finger, the person's no and a lost reader are errors, and not "not found"`() async throws {
    let (world, agent) = try await guardedWorld()
    async let declined = world.keychain { () -> OSStatus in
      var found: AnyObject?
      return SecItemCopyMatching(item("a", [kSecReturnData: true]), &found)
    }
    try await agent.hears("Show")
    _ = try await agent.whorld("CancelRequest", [agent.request])
    #expect(try await declined == errSecUserCanceled)
  }

  @Test func `Reads in one context ask once, and once more when its reuse time is over`() async throws {
    let (world, agent) = try await guardedWorld()
    func read(in context: LAContext, _ more: [String: any Sendable] = [:]) async throws -> OSStatus {
      try await world.keychain {
        var found: AnyObject?
        let query: [String: Any] = [kSecReturnData: true, kSecUseAuthenticationContext: context]
        return SecItemCopyMatching(item("a", query.merging(more) { $1 }), &found)
      }
    }
    func touched(_ context: LAContext, prompt number: Int) async throws {
      async let status = read(in: context)
      try await agent.hears("Show", times: number)
      try await world.reader.press(.leftLoop)
      #expect(try await status == errSecSuccess)
    }
    let transport = BlockingBusTransport(address: world.bus.address, asksOnTerminal: false)
    let lasting = LAContext(transport: transport)
    try await touched(lasting, prompt: 1)
    #expect(try await read(in: lasting) == errSecSuccess)
    let short = LAContext(transport: transport)
    short.touchIDAuthenticationAllowableReuseDuration = 1
    try await touched(short, prompt: 2)
    // Until it would have to ask.
    while try await read(in: short, [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]) == errSecSuccess {
      try Task.checkCancellation()
    }
    try await touched(short, prompt: 3)
    #expect(await agent.heard.count { $0 == "Show" } == 3)
  }

  @Test func `Accessibility filters, and is no part of what an item is`() async throws {
    let world = try await world()
    try await world.keychain {
      let value: [String: Any] = [kSecValueData: Data("x".utf8)]
      #expect(SecItemAdd(item("a", value), nil) == errSecSuccess)
      let always: [String: Any] = [kSecAttrAccessible: kSecAttrAccessibleAlways]
      #expect(SecItemAdd(item("a", value.merging(always) { $1 }), nil) == errSecDuplicateItem)
      #expect(SecItemCopyMatching(item("a", always), nil) == errSecItemNotFound)
      #expect(SecItemUpdate(item("a"), always as CFDictionary) == errSecSuccess)
      for found in [item("a"), item("a", always)] { #expect(SecItemCopyMatching(found, nil) == errSecSuccess) }
      // The same under another group, as after the renaming of a program.
      #expect(SecItemUpdate(item("a"), [kSecAttrAccessGroup: "renamed"] as CFDictionary) == errSecSuccess)
      #expect(SecItemCopyMatching(item("a"), nil) == errSecItemNotFound)
      #expect(SecItemCopyMatching(item("a", [kSecAttrAccessGroup: "renamed"]), nil) == errSecSuccess)
    }
  }

  @Test func `Once the passcode was given, the same process goes on`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    let add: @Sendable () -> OSStatus = { SecItemAdd(item("a", [kSecValueData: Data("x".utf8)]), nil) }
    #expect(try await world.keychain(add) == errSecInteractionNotAllowed)
    try await Client(world).givePasscode(World.passcode)
    #expect(try await world.keychain(add) == errSecSuccess)
  }

  @Test func `While secrets are locked, adding says so; without a daemon, everything does`() async throws {
    let world = try await World()
    try world.setPasscode()
    let daemon = try await world.startDaemon()
    try await world.keychain {
      #expect(SecItemAdd(item("a", [kSecValueData: Data("x".utf8)]), nil) == errSecInteractionNotAllowed)
      let always: [String: Any] = [kSecValueData: Data("x".utf8), kSecAttrAccessible: kSecAttrAccessibleAlways]
      #expect(SecItemAdd(item("b", always), nil) == errSecSuccess)
      #expect(SecItemCopyMatching(item("b", ["nonsense": 1]), nil) == errSecParam)
    }
    daemon.signal(SIGTERM)
    _ = try await daemon.wait()
    try await world.keychain {
      #expect(SecItemCopyMatching(item("b"), nil) == errSecNotAvailable)
      #expect(SecItemDelete(item("b")) == errSecNotAvailable)
    }
  }
}

extension World {
  /// Runs `body`, which blocks, on a thread of its own whose keychain is this world's.
  func keychain<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    let transport = BlockingBusTransport(address: bus.address, asksOnTerminal: false)
    return try await onThread { try WhorlEnclave.$scoped.withValue(transport) { try body() } }
  }
}
