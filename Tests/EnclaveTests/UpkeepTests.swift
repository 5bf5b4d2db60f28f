import Keychain
import SecretMemory
import Testing

@testable import Enclave

/// Looking at a whole keychain, and new keys for it.
@Suite(.timeLimit(.minutes(1)))
struct `Upkeep` {
  @Test func `a check looks at all of many items and prompts nobody`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    for number in 0..<(Enclave.Limits.searchRows + 5) {
      try await bench.store("s\(number)", as: "n\(number)", number % 2 == 0 ? .biometryAny : nil)
    }
    let report = try await bench.enclave.checkKeychain(of: Bench.alice)
    #expect(report.items == Enclave.Limits.searchRows + 5 && report.whole == report.items)
    #expect(report.problems.isEmpty && report.problemCount == 0)
    #expect(bench.sensor.questions.events.isEmpty)
  }

  @Test func `new keys take the right passcode, and then the items open as before`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    _ = try await bench.enclave.makeRecoveryKey(context, owner: .alice)
    try await bench.store("kept", as: "mail", try AccessControl(protection: .whenUnlocked))
    let wrong = await enclaveError {
      _ = try await bench.enclave.rekey(context, owner: .alice, passcode: secretBytes("wrong"))
    }
    #expect(wrong?.busName == "org.whorl.Error.AuthenticationFailed")
    #expect(await bench.enclave.status(user: Bench.alice).hasRecoveryKey)
    #expect(try await bench.enclave.rekey(context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right)) == 1)
    #expect(await !bench.enclave.status(user: Bench.alice).hasRecoveryKey)
    #expect(try await bench.get("mail", in: context) == "kept")
    // The passcode was used up by it.
    try await bench.store("code", as: "code", .devicePasscode)
    #expect(await enclaveError { _ = try await bench.get("code", in: context) } == .passcodeNeeded(.required))

    let again = try bench.restarted()
    let later = try await again.context()
    try await again.givePasscode(to: later)
    #expect(try await again.get("mail", in: later) == "kept")
  }
}
