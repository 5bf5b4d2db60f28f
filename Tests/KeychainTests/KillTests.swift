import Foundation
import Glibc
import SecretMemory
import TestKit
import Testing

@testable import Keychain

/// A process that writes is ended by SIGKILL at random moments: what it was told is done is done, and the rest is absent
/// or whole.
@Suite(.timeLimit(.minutes(5))) struct KillTests {
  private static let kills = 500

  /// The services and numbers of the operation that stored what they hold, after the operations before `count`.
  private func expected(_ count: Int) -> [String: Int] {
    var state: [String: Int] = [:]
    for number in max(0, count - 40)..<max(count, 0) {
      let round = number / 5
      switch number % 5 {
      case 0: state["a\(round)"] = number
      case 1: state["b\(round)"] = number
      case 2: state["a\(round)"] = number
      case 3: state["b\(round)"] = nil
      default: state["a\(round - 2)"] = nil
      }
    }
    // What was stored before the window and deleted in it, or long before it.
    let oldest = max(0, count - 40) / 5
    return state.filter { entry in Int(entry.key.dropFirst()).map { $0 > oldest || count <= 40 } ?? false }
  }

  private func found(_ keychain: UserKeychain) throws -> [String: Int] {
    var state: [String: Int] = [:]
    for item in try keychain.find(ItemQuery()) {
      let bytes = array(try keychain.secret(of: item.id, under: item.accessControl))
      // The secret says which operation wrote it, by its first byte and its length.
      let service = item.attributes.service
      let round = try #require(Int(service.dropFirst()))
      let numbers = service.hasPrefix("a") ? [5 * round, 5 * round + 2] : [5 * round + 1]
      let number = try #require(
        numbers.first { number in
          bytes.count == 1 + number * 37 % 9000
            && bytes.indices.allSatisfy { bytes[$0] == UInt8(truncatingIfNeeded: $0 &+ number) }
        }, "\(service) holds a secret that nobody wrote")
      #expect((item.attributes.comment == nil) == (number % 5 != 2), "\(service) is half changed")
      state[service] = number
    }
    return state
  }

  @Test func `Every write that was acknowledged is there, every other is absent or whole`() async throws {
    let store = try TestStore()
    _ = try store.open()
    var random = SystemRandomNumberGenerator()
    var next = 0
    var killsInTheMiddle = 0
    for kill in 0..<Self.kills {
      let writer = try RunningProgram(
        BuiltPrograms.path("keychain-writer"), [store.directory(), "\(next)"], environment: [:], input: "")
      // From its very start to some twenty writes later, by its own output or by the clock.
      if kill % 4 != 0 {
        try await writer.waitFor("\(next + Int.random(in: 0..<8, using: &random))\n")
      }
      usleep(UInt32.random(in: 0..<3000, using: &random))
      writer.signal(SIGKILL)
      let result = try await writer.wait()
      #expect(result.errorText.isEmpty, "\(result.errorText)")
      let acknowledged = result.text.split(separator: "\n").compactMap { Int($0) }.last.map { $0 + 1 } ?? next

      let keychain = try store.open()
      let state = try found(keychain)
      let after = [acknowledged, acknowledged + 1].first { expected($0) == state }
      let count = try #require(
        after,
        "after \(acknowledged) operations there is \(state), not \(expected(acknowledged)) or what the next makes it")
      if count > acknowledged { killsInTheMiddle += 1 }
      next = count
      if kill % 50 == 0 { #expect(try keychain.checkFile() == []) }
    }
    // Some of the kills must have come between a commit and its word, or nothing was tried.
    #expect(killsInTheMiddle > 0)
    #expect(try store.open().checkItems(count: 1000).damaged.isEmpty)
  }

  @Test func `Killed in the middle of new keys, all is there under the old ones or the new ones`() async throws {
    let store = try TestStore()
    let keychain = try store.open()
    for number in 0..<300 { try keychain.add("s\(number)", secret: "secret \(number)") }
    var random = SystemRandomNumberGenerator()
    func wrapped() throws -> [UInt8]? { try store.editor().blob("SELECT wrapped FROM class_key WHERE class = 0") }
    var (kept, renewed) = (0, 0)
    for kill in 0..<24 {
      let before = try wrapped()
      let writer = try RunningProgram(
        BuiltPrograms.path("keychain-writer"), [store.directory(), "rekey"], environment: [:], input: "")
      let word = kill % 3 == 0 ? "part\n" : kill % 3 == 1 ? "end\n" : "done\n"
      try await writer.waitFor(word)
      usleep(UInt32.random(in: 0..<4000, using: &random))
      writer.signal(SIGKILL)
      let result = try await writer.wait()
      #expect(result.errorText.isEmpty, "\(result.errorText)")
      let isRenewed = try wrapped() != before
      if isRenewed { renewed += 1 } else { kept += 1 }
      #expect(isRenewed || !result.text.contains("done"))

      let after = try store.open()
      let items = try after.find(ItemQuery())
      #expect(items.count == 300)
      for (number, item) in items.enumerated() {
        #expect(item.attributes.service == "s\(number)")
        #expect(try after.secretText(item.id) == "secret \(number)")
      }
      #expect(try after.checkFile() == [])
    }
    #expect(kept > 0 && renewed > 0, "kept \(kept) times, renewed \(renewed) times")
  }
}
