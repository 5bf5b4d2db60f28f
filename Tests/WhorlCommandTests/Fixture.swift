import GLibLoop

@testable import WhorlCommand

struct FakeAccounts: Accounts {
  let names: [UInt32: String] = [0: "root", 1000: "paul", 1001: "ada"]
  func name(of user: UInt32) -> String? { names[user] }
  func user(named name: String) -> UInt32? { names.first { $0.value == name }?.key }
}

/// The commands over fakes.
@GLibActor
struct Fixture {
  let console = FakeConsole()
  let service = FakeService()
  var surroundings = Surroundings(
    environment: [:], effectiveUser: 1000, accounts: FakeAccounts(), pamRoot: "/nonexistent")

  init() {}

  func run(_ words: String?...) async -> ExitCode {
    let commands = Commands(console: console, surroundings: surroundings, service: service)
    return await commands.run(words)
  }

  /// The one line of complaint.
  var complaint: String { console.complaints.joined(separator: "<more than one line>") }
}
