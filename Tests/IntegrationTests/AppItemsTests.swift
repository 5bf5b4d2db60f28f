import Foundation
import Security
import TestKit
import Testing
import WhorlClient

/// What apps keep through the library, as `whorl list --all` shows it and `whorl rm --app` removes it.
@Suite(.timeLimit(.minutes(3))) struct AppItemsTests {
  private func world() async throws -> World {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await Client(world).givePasscode(World.passcode)
    return world
  }

  private func password(_ group: String, _ service: String, _ account: String, _ more: [String: Any] = [:])
    -> CFDictionary
  {
    let base: [String: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccessGroup: group, kSecAttrService: service,
      kSecAttrAccount: account, kSecAttrAccessible: kSecAttrAccessibleAlways, kSecValueData: Data("x".utf8),
    ]
    return base.merging(more) { $1 } as CFDictionary
  }

  /// The lines of `whorl list --all`, without the class.
  private func list(_ world: World) async throws -> [String] {
    let result = try await world.whorl(["list", "--all"])
    #expect(result.status == 0, "\(result.errorText)")
    return result.text.split(separator: "\n").map { line in
      var columns = line.split(separator: "\t", omittingEmptySubsequences: false)
      columns.remove(at: 1)
      return columns.joined(separator: " ")
    }
  }

  @Test func `Every app's items are listed by app, and what the command keeps stays apart`() async throws {
    let world = try await world()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "none"], to: "mine").status == 0)
    #expect(try await world.whorl(["key", "generate", "sign"]).status == 0)
    try await world.keychain {
      // As the command's own, but for the group.
      #expect(SecItemAdd(password("shop", "whorl", "mail"), nil) == errSecSuccess)
      #expect(SecItemAdd(password("bank", "api", "ada"), nil) == errSecSuccess)
      let bound = try #require(
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryCurrentSet, nil))
      let item: [String: Any] = [
        kSecClass: kSecClassInternetPassword, kSecAttrAccessGroup: "shop", kSecAttrServer: "example.org",
        kSecAttrPort: 8443, kSecAttrAccount: "ada\u{1b}[2J", kSecAttrAccessControl: bound, kSecValueData: Data([1]),
      ]
      #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
      let key: [String: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
        kSecPrivateKeyAttrs: [
          kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data("org.example.tag".utf8),
          kSecAttrAccessGroup: "vault",
        ] as [String: Any],
      ]
      #expect(SecKeyCreateRandomKey(key as CFDictionary, nil) != nil)
    }
    var expected = [
      "whorl whorl mail none", "whorl sign - presence", "bank api ada none", "shop whorl mail none",
      "shop example.org:8443 ada\\u{1B}[2J current when-unlocked",
      "vault org.example.tag - none when-unlocked",
    ]
    #expect(try await list(world) == expected)
    #expect(try await world.whorl(["list"]).text == "mail\tnone\n")
    #expect(try await world.whorl(["get", "mail"]).text == "mine")
    // The fingers change: what is gone is listed, and removed as the rest.
    #expect(try await world.whorl(["delete", "--all"]).status == 0)
    expected[4] += " gone"
    #expect(try await list(world) == expected)
    let json = try await world.whorl(["list", "--all", "--json"])
    let objects = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [[String: Any]])
    #expect(objects.map { $0["app"] as? String } == ["whorl", "whorl", "bank", "shop", "shop", "vault"])
    #expect(objects[4]["account"] as? String == "ada\u{1b}[2J" && objects[4]["gone"] as? Bool == true)

    #expect(try await world.whorl(["rm", "mail"]).status == 0)
    #expect(try await list(world) == Array(expected.dropFirst()), "the app's of the same name is still there")
    #expect(try await world.whorl(["rm", "--app", "shop", "--yes"]).text == "Removed of \"shop\": 2 items.\n")
    #expect(try await world.whorl(["rm", "--app", "vault", "--service", "org.example.tag"]).status == 0)
    #expect(try await list(world) == ["whorl sign - presence", "bank api ada none"])
  }

  @Test func `An app's items go after a yes, one of them by its account, and never another's`() async throws {
    let world = try await world()
    try await world.keychain {
      for item in [
        password("shop", "api", "ada"), password("shop", "store", "ada"), password("shop", "api", "zo\u{308}"),
      ] {
        #expect(SecItemAdd(item, nil) == errSecSuccess)
      }
      #expect(SecItemAdd(password("bank", "api", "ada"), nil) == errSecSuccess)
      #expect(SecItemAdd(password("", "plain", "ada"), nil) == errSecSuccess)
    }
    let all = try await list(world)
    #expect(all.count == 5)
    let several = try await world.whorl(["rm", "--app", "shop", "ada"])
    #expect(several.status == 2)
    #expect(several.errorText.contains("shop\tgeneric-password\tapi\tada\tnone\nshop\tgeneric-password\tstore\tada"))
    for (words, status) in [
      (["--app", "shop", "zö"], 3), (["--app", "shop", ""], 2), (["--app", ""], 2), (["--app", "shop"], 2),
      (["--app", "sho", "--yes"], 3), (["--app", "whorl", "--yes"], 3), (["--app", "-", "--yes"], 3),
    ] as [([String], Int32)] {
      #expect(try await world.whorl(["rm"] + words).status == status, "\(words)")
    }
    let no = try await world.onTerminal(["rm", "--app", "shop"], ["(3 items) for good?": "n"])
    #expect(no.status == 5, "\(no.text)")
    #expect(try await list(world) == all, "nothing of all that removed anything")

    #expect(try await world.whorl(["rm", "--app", "shop", "ada", "--service", "api"]).status == 0)
    #expect(try await list(world) == all.filter { $0 != "shop api ada none" })
    let yes = try await world.onTerminal(["rm", "--app", "shop"], ["(2 items) for good?": "y"])
    #expect(yes.status == 0 && yes.text.contains("Removed of \"shop\": 2 items."), "\(yes.text)")
    #expect(try await list(world) == all.filter { !$0.hasPrefix("shop") })
    try await world.keychain { #expect(SecItemAdd(password("bank", "api", "ada"), nil) == errSecDuplicateItem) }
  }

  @Test func `Thousands of items come in parts, and go at once`() async throws {
    let world = try await world()
    try await world.keychain {
      for number in 0..<1203 {
        let group = number.isMultiple(of: 3) ? "shop" : "bank"
        #expect(SecItemAdd(password(group, "api", "\(number)"), nil) == errSecSuccess)
      }
    }
    let lines = try await list(world)
    let numbers = (0..<1203).filter { !$0.isMultiple(of: 3) } + (0..<1203).filter { $0.isMultiple(of: 3) }
    #expect(lines == numbers.map { "\($0.isMultiple(of: 3) ? "shop" : "bank") api \($0) none" })
    #expect(try await world.whorl(["rm", "--app", "bank", "--yes"]).text == "Removed of \"bank\": 802 items.\n")
    #expect(try await list(world) == lines.filter { $0.hasPrefix("shop") })
  }

  @Test func `Items with attributes as large as they may be are listed all the same`() async throws {
    let world = try await world()
    let large = String(repeating: "l", count: 4000)
    try await world.keychain {
      for number in 0..<600 {
        let more: [String: Any] = [kSecAttrLabel: large, kSecAttrComment: large, kSecAttrDescription: large]
        #expect(SecItemAdd(password("shop", "api", "\(number)", more), nil) == errSecSuccess)
      }
    }
    #expect(try await list(world) == (0..<600).map { "shop api \($0) none" })
  }
}
