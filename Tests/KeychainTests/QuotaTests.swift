import SecretMemory
import TestKit
import Testing

@testable import Keychain

/// How much one user may keep.
struct QuotaTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ quota: KeychainQuota) throws -> UserKeychain {
    try UserKeychain(
      directory: folder("1000"), user: UserID(1000), deviceKey: try secret((0..<32).map { $0 }), quota: quota)
  }

  @Test func `With as many items as one may have none is added, and one that goes makes room`() throws {
    let keychain = try open(KeychainQuota(items: 3, bytes: 1 << 30))
    for number in 0..<3 { try keychain.add("s\(number)") }
    #expect(throws: KeychainError.overQuota("3 items")) { try keychain.add("s3") }
    #expect(try keychain.services() == ["s0", "s1", "s2"])
    #expect(try keychain.delete(ItemQuery(service: "s0")) == 1)
    try keychain.add("s3")
    // The numbers run far beyond the quota by now.
    for _ in 0..<5 {
      #expect(throws: KeychainError.overQuota("3 items")) { try keychain.add("s4") }
      #expect(try keychain.delete(ItemQuery(service: "s3")) == 1)
      try keychain.add("s3")
    }
    // Changes need no more room.
    let item = try #require(try keychain.find(ItemQuery(service: "s3")).first)
    var changes = ItemQuery()
    changes.label = "changed"
    try keychain.update(item.id, under: .unconstrained, changes: changes, secret: try secret("new"))
    #expect(try keychain.secretText(item.id) == "new")
  }

  @Test func `A file of as many bytes as one may have takes no more, and what goes makes room`() throws {
    let keychain = try open(KeychainQuota(items: 1000, bytes: 1 << 20))
    let large = String(repeating: "x", count: 200 << 10)
    var stored = 0
    let error = #expect(throws: KeychainError.self) {
      while stored < 100 {
        try keychain.add("s\(stored)", secret: large)
        stored += 1
      }
    }
    #expect(error == .overQuota("1 MiB"))
    #expect((3...5).contains(stored))
    let first = try #require(try keychain.find(ItemQuery(service: "s0")).first)
    #expect(throws: KeychainError.overQuota("1 MiB")) {
      try keychain.update(first.id, under: .unconstrained, changes: ItemQuery(), secret: try secret(large + large))
    }
    #expect(try keychain.secretText(first.id) == large)
    try keychain.update(first.id, under: .unconstrained, changes: ItemQuery(), secret: try secret("small"))
    try keychain.add("fits", secret: String(repeating: "x", count: 100 << 10))
  }

  @Test func `An import is bound by it as well, and then changes nothing`() throws {
    let keychain = try open(KeychainQuota(items: 3, bytes: 1 << 30))
    try keychain.add("mine")
    do {
      let changes = try KeychainImport(into: keychain)
      func add(_ name: String) throws {
        let item = try PortableItem(
          attributes: ItemBody(attributes: ItemAttributes(service: name), created: 0, modified: 0).bytes,
          accessControl: [])
        try changes.add(item, accessControl: .unconstrained, secret: try secret("x"))
      }
      try add("a")
      try add("b")
      #expect(throws: KeychainError.overQuota("3 items")) { try add("c") }
    }
    #expect(try keychain.services() == ["mine"])
  }

  @Test func `The error says how much and what to do`() {
    #expect(
      KeychainError.overQuota("\(KeychainQuota.usual.items) items").description
        == "your keychain holds as much as one may (200000 items); delete what you do not need any more")
  }
}
