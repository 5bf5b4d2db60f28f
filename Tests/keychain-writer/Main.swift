// keychain-writer: writes to a keychain without end, for tests that end it at any moment.
//
// usage: keychain-writer DIRECTORY FIRST
//        keychain-writer DIRECTORY rekey
//
// Does the operations FIRST, FIRST + 1, ... of `Script` on the keychain in DIRECTORY and writes the number of each on
// standard output once the keychain has said that it is done. With "rekey" it makes new keys without end, in parts, and writes
// a line for each part.

import Glibc
import Keychain
import SecretMemory

@main struct Main {
  static func main() {
    guard CommandLine.arguments.count == 3 else { exit(2) }
    let first = Int(CommandLine.arguments[2])
    guard first != nil || CommandLine.arguments[2] == "rekey" else { exit(2) }
    do {
      let keychain = try UserKeychain(
        directory: CommandLine.arguments[1], user: UserID(1000), deviceKey: try Script.deviceKey())
      guard let first else { try rekey() }
      for number in first... {
        try Script.run(number, on: keychain)
        tell("\(number)\n")
      }
    } catch {
      let line = "keychain-writer: \(error)\n"
      _ = write(STDERR_FILENO, line, line.utf8.count)
      exit(1)
    }
  }

  private static func tell(_ line: String) {
    guard write(STDOUT_FILENO, line, line.utf8.count) == line.utf8.count else { exit(3) }
  }

  private static func rekey() throws -> Never {
    while true {
      // Opened anew each time: the keys are others.
      let keychain = try UserKeychain(
        directory: CommandLine.arguments[1], user: UserID(1000), deviceKey: try Script.deviceKey())
      let rekey = try KeychainRekey(of: keychain, deviceKey: try Script.deviceKey(), passcode: nil)
      while try rekey.step(rows: 20) { tell("part\n") }
      tell("end\n")
      try rekey.commit()
      tell("done\n")
    }
  }
}

/// What is written, so that the state after each operation is known: five operations a round.
enum Script {
  static func deviceKey() throws -> SecretBytes {
    var key = try SecretBytes(count: 32)
    key.withUnsafeMutableBytes { for index in $0.indices { $0[index] = UInt8(index) } }
    return key
  }

  /// The secret that an operation stores: sizes around a page and beyond.
  static func secret(_ number: Int) throws -> SecretBytes {
    var secret = try SecretBytes(count: 1 + number * 37 % 9000)
    secret.withUnsafeMutableBytes { for index in $0.indices { $0[index] = UInt8(truncatingIfNeeded: index &+ number) } }
    return secret
  }

  static func run(_ number: Int, on keychain: UserKeychain) throws {
    let round = number / 5
    switch number % 5 {
    case 0: try add("a\(round)", number, keychain)
    case 1: try add("b\(round)", number, keychain)
    case 2:
      var changes = ItemQuery()
      changes.comment = "\(number)"
      let item = try keychain.find(ItemQuery(service: "a\(round)")).first
      guard let item else { throw KeychainError.itemNotFound }
      try keychain.update(item.id, under: .unconstrained, changes: changes, secret: try secret(number))
    case 3: _ = try keychain.delete(ItemQuery(service: "b\(round)"))
    default: _ = try keychain.delete(ItemQuery(service: "a\(round - 2)"))
    }
  }

  private static func add(_ service: String, _ number: Int, _ keychain: UserKeychain) throws {
    _ = try keychain.add(
      ItemAttributes(service: service), accessControl: .unconstrained, secret: try secret(number))
  }
}
