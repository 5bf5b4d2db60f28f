// keychain-storm TASKS OPERATIONS SEED: mixed SecItem calls from many tasks at once, each held against what its items must
// be; and all of them on a few items that they share, where every answer must be one that can be. The keychain is that of
// the bus at DBUS_SYSTEM_BUS_ADDRESS. Says how many calls there were and ends with 0, or says what was wrong and ends with 1.
import Foundation
import Security

/// Numbers that are the same for the same seed.
struct Numbers: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

struct Fault: Error, CustomStringConvertible {
  let description: String
}

/// One task's items, and what they must be.
struct Storm {
  let task: Int
  var numbers: Numbers
  var items: [String: Data] = [:]

  init(task: Int, seed: UInt64) {
    self.task = task
    numbers = Numbers(seed: seed &+ UInt64(task) &* 7919)
  }

  func query(_ account: String, _ more: [String: Any] = [:]) -> CFDictionary {
    let base: [String: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "storm", kSecAttrAccount: account,
    ]
    return base.merging(more) { $1 } as CFDictionary
  }

  func expect(_ status: OSStatus, _ expected: OSStatus..., what: String) throws(Fault) {
    guard expected.contains(status) else { throw Fault(description: "\(what): \(status), expected \(expected)") }
  }

  mutating func step() throws(Fault) {
    let account = "\(getpid())-\(task)-\(Int.random(in: 0..<5, using: &numbers))"
    let value = Data(
      (0..<Int.random(in: 0...40, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers) })
    switch Int.random(in: 0..<6, using: &numbers) {
    case 0:
      let more: [String: Any] = [kSecValueData: value, kSecAttrAccessible: kSecAttrAccessibleAlways]
      let status = SecItemAdd(query(account, more), nil)
      try expect(status, items[account] == nil ? errSecSuccess : errSecDuplicateItem, what: "add")
      if status == errSecSuccess { items[account] = value }
    case 1, 2:
      var found: AnyObject?
      let status = SecItemCopyMatching(query(account, [kSecReturnData: true]), &found)
      try expect(status, items[account] == nil ? errSecItemNotFound : errSecSuccess, what: "read")
      guard found as? Data == items[account] else { throw Fault(description: "read: other bytes than were stored") }
    case 3:
      let status = SecItemUpdate(query(account), [kSecValueData: value] as CFDictionary)
      try expect(status, items[account] == nil ? errSecItemNotFound : errSecSuccess, what: "update")
      if status == errSecSuccess { items[account] = value }
    case 4:
      let status = SecItemDelete(query(account))
      try expect(status, items[account] == nil ? errSecItemNotFound : errSecSuccess, what: "delete")
      items[account] = nil
    default: try shared(value)
    }
  }

  /// An item that everybody adds, changes and deletes.
  mutating func shared(_ value: Data) throws(Fault) {
    let account = "shared-\(Int.random(in: 0..<3, using: &numbers))"
    switch Int.random(in: 0..<3, using: &numbers) {
    case 0:
      let more: [String: Any] = [kSecValueData: value, kSecAttrAccessible: kSecAttrAccessibleAlways]
      try expect(SecItemAdd(query(account, more), nil), errSecSuccess, errSecDuplicateItem, what: "add a shared one")
    case 1:
      var found: AnyObject?
      try expect(
        SecItemCopyMatching(query(account, [kSecReturnData: true]), &found), errSecSuccess, errSecItemNotFound,
        what: "read a shared one")
    default: try expect(SecItemDelete(query(account)), errSecSuccess, errSecItemNotFound, what: "delete a shared one")
    }
  }

  mutating func finish() throws(Fault) {
    for (account, value) in items {
      var found: AnyObject?
      try expect(
        SecItemCopyMatching(query(account, [kSecReturnData: true]), &found), errSecSuccess, what: "read at the end")
      guard found as? Data == value else { throw Fault(description: "at the end: other bytes than were stored") }
      try expect(SecItemDelete(query(account)), errSecSuccess, what: "delete at the end")
    }
  }
}

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard arguments.count == 3 else {
  print("usage: keychain-storm TASKS OPERATIONS SEED")
  exit(2)
}
let (tasks, operations, seed) = (arguments[0], arguments[1], UInt64(arguments[2]))
do {
  try await withThrowingTaskGroup { group in
    for task in 0..<tasks {
      group.addTask {
        var storm = Storm(task: task, seed: seed)
        for _ in 0..<operations { try storm.step() }
        try storm.finish()
      }
    }
    try await group.waitForAll()
  }
  print("\(tasks * operations) calls")
} catch {
  print("seed \(seed): \(error)")
  exit(1)
}
