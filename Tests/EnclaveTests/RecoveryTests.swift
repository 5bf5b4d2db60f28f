import Foundation
import Keychain
import SecretMemory
import TestKit
import Testing

@testable import Enclave

/// A device key that is lost, and the ways back.
@Suite(.timeLimit(.minutes(1)))
struct `Recovery` {
  /// A bench whose TPM gives the key no more, over the state of one with two secrets; and the recovery key.
  private func lost(_ sealing: DeviceKeySealing) async throws -> (Bench, String) {
    let bench = try Bench()
    bench.keys.setSealing(sealing)
    try await bench.enrol()
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    let key = try await bench.enclave.makeRecoveryKey(context, owner: .alice)
    try await bench.store("plain", as: "note", nil)
    try await bench.store("kept", as: "mail", try AccessControl(protection: .whenUnlocked))
    let after = try bench.restarted()
    after.keys.setSealing(sealing)
    after.keys.setFailure(.deviceKey("the TPM does not give it"))
    return (after, key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }

  private func expectAllBack(_ bench: Bench) async throws {
    let context = try await bench.context()
    #expect(try await bench.get("note", in: context) == "plain")
    #expect(try await bench.get("mail", in: context) == "kept")
    #expect(await bench.enclave.isRegistered(Finger.index.print, user: Bench.alice))
    #expect(bench.keys.replacements == 1)
  }

  @Test func `the recovery key brings all back under a new device key`() async throws {
    let (bench, key) = try await lost(.host)
    #expect(await bench.enclave.status(user: Bench.alice).storeError != nil)
    #expect(try await bench.enclave.waysBack(of: Bench.alice)?.recoveryKey == true)
    for wrong in ["nonsense", "00000-" + key.dropFirst(6)] {
      let error = await enclaveError {
        try await bench.enclave.recover(owner: .alice, recoveryKey: secretBytes(wrong))
      }
      #expect(error?.busName == "org.whorl.Error.AuthenticationFailed")
    }
    #expect(bench.keys.replacements == 0)
    try await bench.enclave.recover(owner: .alice, recoveryKey: secretBytes(key))
    try await expectAllBack(bench)
    #expect(try await bench.enclave.waysBack(of: Bench.alice) == nil)
    // The passcode unlocks again as ever, also after a start.
    try await bench.givePasscode(to: try await bench.context())
    await bench.enclave.lockKeys(of: Bench.alice)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.locked))
    try await bench.givePasscode(to: context)
    #expect(try await bench.get("mail", in: context) == "kept")
  }

  @Test func `where the key was sealed to a TPM, the passcode does too`() async throws {
    let (bench, _) = try await lost(.hostAndTPM2)
    let wrong = await enclaveError {
      try await bench.enclave.recover(owner: .alice, passcode: secretBytes("wrong"))
    }
    #expect(wrong?.busName == "org.whorl.Error.AuthenticationFailed")
    #expect(bench.keys.replacements == 0)
    try await bench.enclave.recover(owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
    try await expectAllBack(bench)
  }

  @Test func `without a TPM the passcode alone is no way back, so that no disk can be tried with passwords`()
    async throws
  {
    let (bench, _) = try await lost(.host)
    let error = await enclaveError {
      try await bench.enclave.recover(owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
    }
    #expect(error?.busName == "org.whorl.Error.Param")
    #expect(bench.passcodes.attempts.events.isEmpty)
  }

  @Test func `a TPM that refuses is asked once, however many ask and however long`() async throws {
    let (bench, _) = try await lost(.hostAndTPM2)
    for _ in 0..<5 {
      _ = await enclaveError { try await bench.store("x", as: "y", nil) }
      bench.clock.advance(seconds: 60)
    }
    #expect(bench.keys.loads.count == 1)
  }

  @Test func `without a TPM a key that cannot be had is asked for again after a moment, not at every request`()
    async throws
  {
    let bench = try Bench()
    bench.keys.setFailure(.deviceKey("systemd's host key is not there yet"))
    for _ in 0..<5 { _ = await enclaveError { try await bench.store("x", as: "y", nil) } }
    #expect(bench.keys.loads.count == 1)
    bench.clock.advance(seconds: 2)
    #expect(
      await enclaveError { try await bench.store("x", as: "y", nil) }?.busName == "org.whorl.Error.StoreUnavailable")
    #expect(bench.keys.loads.count == 1)
    bench.keys.setFailure(nil)
    bench.clock.advance(seconds: 2)
    try await bench.store("x", as: "y", nil)
    #expect(bench.keys.loads.count == 2)
  }

  @Test func `a TPM that does not answer is asked again later, and is not taken for one that refuses`() async throws {
    let (bench, key) = try await lost(.hostAndTPM2)
    bench.keys.setFailure(.deviceKeyUnavailable("systemd-creds did not end within 60 seconds; try again later"))
    let error = await enclaveError { try await bench.store("x", as: "y", nil) }
    #expect(error?.busName == "org.whorl.Error.StoreUnavailable")
    // Nothing is brought back, by either way, and no key takes the place of one that is there.
    #expect(await enclaveError { _ = try await bench.enclave.waysBack(of: Bench.alice) } == error)
    #expect(
      await enclaveError { try await bench.enclave.recover(owner: .alice, recoveryKey: secretBytes(key)) } == error)
    #expect(
      await enclaveError {
        try await bench.enclave.recover(owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
      } == error)
    #expect(bench.keys.replacements == 0 && bench.keys.loads.count == 1)
    bench.keys.setFailure(nil)
    bench.clock.advance(seconds: 4)
    #expect(try await bench.get("note", in: try await bench.context()) == "plain")
    #expect(bench.keys.loads.count == 2)
  }

  @Test func `a TPM that refused and then does not answer keeps its key`() async throws {
    let (bench, key) = try await lost(.hostAndTPM2)
    #expect(try await bench.enclave.waysBack(of: Bench.alice)?.recoveryKey == true)
    bench.keys.setFailure(.deviceKeyUnavailable("no answer"))
    let error = await enclaveError { try await bench.enclave.recover(owner: .alice, recoveryKey: secretBytes(key)) }
    #expect(error == .keychain(.deviceKeyUnavailable("no answer")))
    #expect(bench.keys.replacements == 0)
    bench.keys.setFailure(nil)
    bench.clock.advance(seconds: 4)
    #expect(try await bench.get("note", in: try await bench.context()) == "plain")
  }

  @Test func `a way back that was begun before a logout does not undo the logout`() async throws {
    let (bench, _) = try await lost(.hostAndTPM2)
    bench.passcodes.hold()
    let recovery = Task {
      try await bench.enclave.recover(owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
    }
    try await bench.passcodes.attempts.wait { $0.count == 1 }
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .none)
    bench.passcodes.letGo()
    try await recovery.value
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.locked))
    #expect(try await bench.get("note", in: context) == "plain")
  }

  @Test func `one account's way back leaves another's for itself`() async throws {
    let first = try Bench()
    var keys: [UserID: String] = [:]
    for owner in [ContextOwner.alice, .bob] {
      let context = try await first.context(of: owner)
      try await first.givePasscode(to: context, owner: owner)
      let key = try await first.enclave.makeRecoveryKey(context, owner: owner)
      keys[owner.user] = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      try await first.store("of \(owner.user)", as: "note", nil, of: owner.user)
    }
    let bench = try first.restarted()
    bench.keys.setFailure(.deviceKey("lost"))
    try await bench.enclave.recover(owner: .alice, recoveryKey: secretBytes(try #require(keys[Bench.alice])))
    // Bob's is still under the old key; Alice's recovery key is none of his.
    #expect(try await bench.enclave.waysBack(of: Bench.bob)?.recoveryKey == true)
    let foreign = await enclaveError {
      try await bench.enclave.recover(owner: .bob, recoveryKey: secretBytes(try #require(keys[Bench.alice])))
    }
    #expect(foreign?.busName == "org.whorl.Error.AuthenticationFailed")
    try await bench.enclave.recover(owner: .bob, recoveryKey: secretBytes(try #require(keys[Bench.bob])))
    #expect(bench.keys.replacements == 1)
    #expect(try await bench.get("note", in: try await bench.context(of: .bob), owner: .bob) == "of \(Bench.bob)")
    #expect(try await bench.get("note", in: try await bench.context()) == "of \(Bench.alice)")
  }

  @Test func `a keychain of an account that had the uid before does not come back for its successor`() async throws {
    let (bench, key) = try await lost(.host)
    await bench.enclave.learn(Bench.alice, .named("mallory"))
    let error = await enclaveError { try await bench.enclave.recover(owner: .alice, recoveryKey: secretBytes(key)) }
    #expect(error?.busName == "org.whorl.Error.StoreUnavailable")
    #expect(bench.keys.replacements == 0)
  }

  @Test func `what can be had is not brought back`() async throws {
    let bench = try Bench()
    try await bench.store("plain", as: "note", nil)
    let error = await enclaveError { try await bench.enclave.recover(owner: .alice, recoveryKey: secretBytes("x")) }
    #expect(error?.busName == "org.whorl.Error.Param")
  }

  @Test func `passcodes at a lost keychain are counted and delayed as ever, and a start forgets none of them`()
    async throws
  {
    var (bench, _) = try await lost(.hostAndTPM2)
    func attempt(_ passcode: String) async -> EnclaveError? {
      let bench = bench
      return await enclaveError { try await bench.enclave.recover(owner: .alice, passcode: secretBytes(passcode)) }
    }
    for _ in 0..<2 { #expect(await attempt("wrong") == .authenticationFailed("the password is wrong; try again")) }
    #expect(await attempt("wrong") == .authenticationFailed("the password is wrong; try again in 30 seconds"))
    #expect(await attempt(ScriptedPasscode.right) == .passcodeDelayed(seconds: 30))
    #expect(bench.passcodes.attempts.events.count == 3, "none is looked at meanwhile")
    #expect(await bench.enclave.status(user: Bench.alice).passcodeDelay == 30)

    bench = try bench.restarted()
    bench.keys.setSealing(.hostAndTPM2)
    bench.keys.setFailure(.deviceKey("the TPM does not give it"))
    #expect(await attempt(ScriptedPasscode.right) == .passcodeDelayed(seconds: 30))
    #expect(bench.passcodes.attempts.events.isEmpty)
    bench.clock.advance(seconds: 31)
    #expect(await attempt("wrong") == .authenticationFailed("the password is wrong; try again in 60 seconds"))
    bench.clock.advance(seconds: 61)
    // What nobody could look at does not count.
    bench.passcodes.setVerdict(.unavailable("PAM is broken"))
    #expect(await attempt("wrong") == .failed("PAM is broken"))
    bench.passcodes.setVerdict(nil)
    #expect(await attempt(ScriptedPasscode.right) == nil)
    try await expectAllBack(bench)
    #expect(try RecoveryAttempts(folder: bench.folder("users/\(Bench.alice)")).record() == LockoutRecord())
  }

  @Test func `an attempt counts before it is looked at, and one that cannot be recorded is none`() async throws {
    let (bench, _) = try await lost(.hostAndTPM2)
    bench.passcodes.hold()
    let asking = Task {
      await enclaveError { try await bench.enclave.recover(owner: .alice, passcode: secretBytes("wrong")) }
    }
    try await bench.passcodes.attempts.wait { !$0.isEmpty }
    let attempts = RecoveryAttempts(folder: bench.folder("users/\(Bench.alice)"))
    #expect(try attempts.record().passcodeFailures == 1)
    bench.passcodes.letGo()
    _ = await asking.value

    // Altered: one attempt, then the delay of ten.
    try bench.folder.write("garbage", to: "users/\(Bench.alice)/recovery-attempts")
    let wrong = await enclaveError { try await bench.enclave.recover(owner: .alice, passcode: secretBytes("wrong")) }
    #expect(wrong == .authenticationFailed("the password is wrong; try again in 3600 seconds"))
    bench.clock.advance(seconds: 3601)

    try FileManager.default.createDirectory(
      atPath: bench.folder("users/\(Bench.alice)/recovery-attempts.new"), withIntermediateDirectories: false)
    let refused = await enclaveError {
      try await bench.enclave.recover(owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
    }
    #expect(refused?.busName == "org.whorl.Error.StoreUnavailable")
    #expect(bench.passcodes.attempts.events.count == 2)
  }
}
