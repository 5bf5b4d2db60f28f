// keychain-bench: how long the keychain takes with few and with many items. Prints figures, judges none.
//
// usage: keychain-bench FOLDER [ITEMS...]     the folder must not exist

import Glibc
import Keychain
import SecretMemory

@main struct Main {
  static func main() {
    var words = Array(CommandLine.arguments.dropFirst())
    guard let folder = words.first, access(folder, F_OK) != 0, mkdir(folder, 0o700) == 0 else {
      print("usage: keychain-bench FOLDER [ITEMS...]; the folder must not exist")
      exit(2)
    }
    words.removeFirst()
    let sizes = words.isEmpty ? [10, 1000, 100_000] : words.compactMap { Int($0) }
    do {
      var first: [String: Double] = [:]
      print("items      operation     median      times the first")
      for size in sizes {
        let keychain = try fill("\(folder)/\(size)", size)
        for (name, time) in try measure(keychain, size) {
          let base = first[name] ?? time
          first[name] = base
          print(
            "\(pad("\(size)", 10)) \(pad(name, 12)) \(pad("\(Int(time * 1_000_000)) us", 11)) \(hundredths(time / base))"
          )
        }
        try list(keychain, size)
      }
      try large(try fill("\(folder)/large", 0))
    } catch {
      print("keychain-bench: \(error)")
      exit(1)
    }
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.utf8.count))
  }

  private static func hundredths(_ value: Double) -> String { "\(Double(Int(value * 100)) / 100)" }

  private static func secret(_ count: Int) throws -> SecretBytes { try SecretBytes.random(count: count) }

  private static func fill(_ directory: String, _ count: Int) throws -> UserKeychain {
    let keychain = try UserKeychain(
      directory: directory, user: UserID(1000), deviceKey: try SecretBytes(count: 32))
    for number in 0..<count {
      _ = try keychain.add(
        ItemAttributes(service: "bench", account: "item \(number)"), accessControl: .unconstrained,
        secret: try secret(32))
    }
    return keychain
  }

  private static func measure(_ keychain: UserKeychain, _ size: Int) throws -> [(String, Double)] {
    var times: [String: [Double]] = [:]
    func time(_ name: String, _ body: () throws -> Void) rethrows {
      let start = now()
      try body()
      times[name, default: []].append(now() - start)
    }
    for round in 0..<60 {
      let name = "item \(size == 0 ? 0 : Int.random(in: 0..<size))"
      try time("lookup") {
        guard try keychain.find(ItemQuery(service: "bench", account: name)).count == 1 else { exit(1) }
      }
      let fresh = "fresh \(round)"
      try time("add") {
        _ = try keychain.add(
          ItemAttributes(service: "bench", account: fresh), accessControl: .unconstrained, secret: try secret(32))
      }
      guard let item = try keychain.find(ItemQuery(service: "bench", account: fresh)).first else { exit(1) }
      try time("update") {
        try keychain.update(item.id, under: .unconstrained, changes: ItemQuery(), secret: try secret(32))
      }
      try time("delete") { _ = try keychain.delete(ItemQuery(service: "bench", account: fresh)) }
    }
    return ["lookup", "add", "update", "delete"].map { name in
      (name, times[name, default: [0]].sorted()[times[name, default: [0]].count / 2])
    }
  }

  /// All names, in pages as whorld asks for them, and the memory that takes beyond what there was.
  private static func list(_ keychain: UserKeychain, _ size: Int) throws {
    let before = peak()
    let start = now()
    var count = 0
    var last: ItemID?
    repeat {
      let page = try keychain.page(ItemQuery(), after: last, count: 200)
      count += page.items.count
      last = page.next
    } while last != nil
    print(
      "\(pad("\(size)", 10)) \(pad("list", 12)) \(Int((now() - start) * 1000)) ms for \(count) names, "
        + "\(peak() - before) KiB more at the peak")
  }

  private static func large(_ keychain: UserKeychain) throws {
    let secret = try secret(KeychainLimits.secretBytes)
    var start = now()
    let id = try keychain.add(ItemAttributes(service: "large"), accessControl: .unconstrained, secret: secret)
    let added = now() - start
    start = now()
    _ = try keychain.secret(of: id, under: .unconstrained)
    print("1 MiB secret: add \(Int(added * 1000)) ms, read \(Int((now() - start) * 1000)) ms")
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The most memory the process had, in KiB.
  private static func peak() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss
  }
}
