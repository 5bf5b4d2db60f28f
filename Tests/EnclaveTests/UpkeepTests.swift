import SecretMemory
import Synchronization
import TestKit
import Testing

@testable import Enclave
@testable import Keychain

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

  // MARK: Others meanwhile

  /// Many items of Alice's, without a finger or a passcode, and one of Bob's.
  private func many(_ count: Int) async throws -> Bench {
    let bench = try Bench()
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    try bench.fill(count)
    try await bench.store("u", as: "mail", nil, of: Bench.bob)
    return bench
  }

  /// What happens at the `count`th pause of a long work, once.
  private func atPause(_ count: Int = 2, of bench: Bench, _ body: @escaping @Sendable () async -> Void) async {
    let pauses = Mutex(0)
    await bench.enclave.onPause {
      let number = pauses.withLock { value in
        value += 1
        return value
      }
      if number == count { await body() }
    }
  }

  private func errorName(_ body: () async throws -> Void) async -> String? {
    await enclaveError(body)?.busName.replacing("org.whorl.Error.", with: "")
  }

  @Test func `while new keys are made others are served, reading goes on, and changes and a second one are refused`()
    async throws
  {
    let bench = try await many(600)
    let context = try await bench.context()
    let seen = EventLog<String>()
    await atPause(of: bench) {
      do {
        seen.append(try await bench.get("mail", in: try await bench.context(of: .bob), owner: .bob))
        seen.append(try await bench.get("n7", in: context))
      } catch {
        seen.append("\(error)")
      }
      seen.append(await errorName { try await bench.store("x", as: "new", nil) } ?? "none")
      seen.append(
        await errorName { _ = try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true) }
          ?? "none")
      seen.append(await errorName { _ = try await bench.enclave.checkKeychain(of: Bench.alice) } ?? "none")
      seen.append(
        await errorName {
          _ = try await bench.enclave.rekey(context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
        } ?? "none")
      seen.append(await errorName { _ = try await bench.enclave.checkKeychain(of: Bench.bob) } ?? "none")
    }
    #expect(
      try await bench.enclave.rekey(context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right)) == 600)
    #expect(seen.events == ["u", "7", "StoreUnavailable", "Busy", "Busy", "Busy", "none"])
    await bench.enclave.onPause(nil)
    #expect(try await bench.get("n599", in: context) == "599")
    try await bench.store("x", as: "new", nil)
    #expect(try await bench.enclave.checkKeychain(of: Bench.alice).whole == 601)
  }

  @Test func `others are served while a keychain is checked, and a second check is refused`() async throws {
    let bench = try await many(450)
    let seen = EventLog<String>()
    await atPause(of: bench) {
      do {
        seen.append(try await bench.get("mail", in: try await bench.context(of: .bob), owner: .bob))
      } catch {
        seen.append("\(error)")
      }
      seen.append(await errorName { _ = try await bench.enclave.checkKeychain(of: Bench.alice) } ?? "none")
    }
    #expect(try await bench.enclave.checkKeychain(of: Bench.alice).whole == 450)
    #expect(seen.events == ["u", "Busy"])
    await bench.enclave.onPause(nil)
    #expect(try await bench.enclave.checkKeychain(of: Bench.alice).whole == 450)
  }

  @Test func `others are served while all is deleted, and until its end nothing is`() async throws {
    let bench = try await many(450)
    let seen = EventLog<String>()
    let context = try await bench.context()
    await atPause(of: bench) {
      do {
        seen.append(try await bench.get("mail", in: try await bench.context(of: .bob), owner: .bob))
        seen.append(try await bench.get("n0", in: context))
      } catch {
        seen.append("\(error)")
      }
      seen.append(await errorName { _ = try await bench.enclave.checkKeychain(of: Bench.alice) } ?? "none")
    }
    #expect(try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true) == 450)
    #expect(seen.events == ["u", "0", "Busy"])
    await bench.enclave.onPause(nil)
    #expect(try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery()).isEmpty)
    #expect(try await bench.get("mail", in: try await bench.context(of: .bob), owner: .bob) == "u")
  }

  @Test func `new keys whose caller goes leave all as it was`() async throws {
    let bench = try await many(200)
    let context = try await bench.context()
    await atPause(of: bench) { await bench.enclave.connectionClosed(ContextOwner.alice.connection) }
    #expect(
      await enclaveError {
        _ = try await bench.enclave.rekey(context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
      } == .invalidContext)
    await bench.enclave.onPause(nil)
    #expect(try await bench.enclave.checkKeychain(of: Bench.alice).whole == 200)
    try await bench.store("x", as: "new", nil)
  }

  @Test func `a logout in the middle of new keys leaves all as it was`() async throws {
    let bench = try await many(200)
    try await bench.store("kept", as: "deep", try AccessControl(protection: .whenUnlocked))
    let context = try await bench.context()
    await atPause(of: bench) { await bench.enclave.sessionsChanged(of: Bench.alice, to: .none) }
    #expect(
      await enclaveError {
        _ = try await bench.enclave.rekey(context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
      } == .keychain(.locked(.whenUnlocked)))
    await bench.enclave.onPause(nil)
    try await bench.givePasscode(to: context)
    #expect(try await bench.get("deep", in: context) == "kept")
    #expect(try await bench.enclave.checkKeychain(of: Bench.alice).whole == 201)
  }

  @Test func `names in the log lead to their items also after new keys`() async throws {
    let bench = try await many(250)
    let context = try await bench.context()
    let keychain = try bench.keychainOnDisk()
    let names = [5, 249].map { keychain.logName(of: ItemAttributes(service: "n\($0)", account: "me")) }
    for _ in 0..<2 {
      let found = try await bench.enclave.items(byLogNames: Set(names + [[], [1, 2]]), of: Bench.alice)
      #expect(names.map { found[$0]?.service } == ["n5", "n249"])
      #expect(found.count == 2)
      _ = try await bench.enclave.rekey(context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
    }
  }
}

extension Bench {
  /// Adds so many items of Alice's beside the enclave, faster than through it.
  fileprivate func fill(_ count: Int) throws {
    let changes = try KeychainImport(into: try keychainOnDisk())
    for number in 0..<count {
      let item = try PortableItem(
        attributes: ItemBody(attributes: ItemAttributes(service: "n\(number)", account: "me"), created: 0, modified: 0)
          .bytes, accessControl: [])
      try changes.add(item, accessControl: .unconstrained, secret: secretBytes("\(number)"))
    }
    try changes.commit()
  }
}

extension Enclave {
  fileprivate func onPause(_ body: (@Sendable () async -> Void)?) { betweenBackupParts = body }
}
