import Foundation
import Glibc
import Keychain
import KeychainArchive
import SecretMemory
import Synchronization
import Testing

@testable import Enclave

/// What is noted of requests for secrets.
@Suite(.timeLimit(.minutes(1)))
struct `Releases` {
  private final class Notes: ReleaseRecorder {
    private let state = Mutex<[ReleaseEvent]>([])
    var events: [ReleaseEvent] { state.withLock { $0 } }
    func record(_ event: ReleaseEvent) { state.withLock { $0.append(event) } }
  }

  @Test func `each release and refusal is noted once, of one secret and of all of them`() async throws {
    let bench = try Bench()
    let notes = Notes()
    await bench.enclave.setRecorder(notes)
    try await bench.enrol()
    try await bench.store("s", as: "mail", .devicePasscode)
    let context = try await bench.context(reuse: 300)
    _ = await enclaveError { _ = try await bench.get("mail", in: context) }
    try await bench.givePasscode(to: context)
    _ = try await bench.get("mail", in: context)
    let key = try await bench.enclave.makeRecoveryKey(context, owner: .alice)
    _ = await enclaveError {
      try await bench.enclave.provideRecoveryKey(context, owner: .alice, key: secretBytes("nonsense"))
    }
    try await bench.enclave.provideRecoveryKey(context, owner: .alice, key: key)

    let file = try MemoryFile.make(name: "test")
    defer { close(file) }
    _ = try await bench.enclave.export(
      context, owner: .alice, into: file, passphrase: secretBytes("a phrase"), cost: .none)
    #expect(
      notes.events.map(\.deed) == [
        "read", "read", "make-recovery-key", "give-recovery-key", "give-recovery-key", "export",
      ])
    #expect(
      notes.events.map { $0.error?.busName.split(separator: ".").last } == [
        "PasscodeNeeded", nil, nil, "AuthenticationFailed", nil, nil,
      ])
    #expect(notes.events.map(\.item.isEmpty) == [false, false, true, true, true, true])
    #expect(notes.events.allSatisfy { $0.owner == .alice })
    // Nothing of it is the name.
    #expect(notes.events[0].item != Array("mail".utf8) && notes.events[0].item == notes.events[1].item)
  }

  @Test func `a request that must not prompt and would have to is none to be noted, a context's own refusal is`()
    async throws
  {
    let bench = try Bench()
    let notes = Notes()
    await bench.enclave.setRecorder(notes)
    try await bench.store("s", as: "mail", .devicePasscode)
    let quiet = try VerificationOptions(allowsInteraction: false)
    let query = ItemQuery(service: "mail")
    let context = try await bench.context()
    let first = await enclaveError {
      _ = try await bench.enclave.copySecret(context, owner: .alice, query: query, options: quiet)
    }
    #expect(first == .notInteractive && notes.events.isEmpty)
    let silent = try await bench.enclave.createContext(owner: .alice, interactionNotAllowed: true)
    let second = await enclaveError {
      _ = try await bench.enclave.copySecret(silent, owner: .alice, query: query)
    }
    #expect(second == .notInteractive && notes.events.map(\.error) == [.notInteractive])
    // Where it was given before, the same request gets it, and that is noted.
    try await bench.givePasscode(to: context)
    _ = try await bench.enclave.copySecret(context, owner: .alice, query: query, options: quiet)
    #expect(notes.events.count == 2)
  }

  @Test func `bringing a keychain back is noted, the way that failed too`() async throws {
    let first = try Bench()
    first.keys.setSealing(.hostAndTPM2)
    let context = try await first.context()
    try await first.givePasscode(to: context)
    let key = try await first.enclave.makeRecoveryKey(context, owner: .alice)
    let text = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    let bench = try first.restarted()
    bench.keys.setSealing(.hostAndTPM2)
    let notes = Notes()
    await bench.enclave.setRecorder(notes)
    // Nothing is lost yet, and nothing happens.
    _ = await enclaveError { try await bench.enclave.recover(owner: .alice, recoveryKey: secretBytes(text)) }
    #expect(notes.events.isEmpty)
    let lost = try first.restarted()
    lost.keys.setSealing(.hostAndTPM2)
    lost.keys.setFailure(.deviceKey("the TPM does not give it"))
    await lost.enclave.setRecorder(notes)
    _ = await enclaveError { try await lost.enclave.recover(owner: .alice, recoveryKey: secretBytes("nonsense")) }
    _ = await enclaveError { try await lost.enclave.recover(owner: .alice, passcode: secretBytes("wrong")) }
    try await lost.enclave.recover(owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
    #expect(notes.events.map(\.deed) == ["recover", "recover", "recover"])
    #expect(
      notes.events.map { $0.error?.busName.split(separator: ".").last } == [
        "AuthenticationFailed", "AuthenticationFailed", nil,
      ])
    #expect(notes.events.allSatisfy { $0.owner == .alice && $0.item.isEmpty })
  }
}
