import Keychain
import SecretMemory
import Testing

@testable import Enclave

/// Protection classes: what unlocks them, what locks them, what ends them.
@Suite(.timeLimit(.minutes(1)))
struct `Unlocking` {
  private static let lockable = ProtectionClass.allCases.filter(\.needsPasscode)

  /// A bench with an item of a class, unlocked by the passcode.
  private func unlocked(_ protection: ProtectionClass, _ names: [String] = []) async throws -> Bench {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.givePasscode(to: try await bench.context())
    try await bench.store("kept", as: "mail", try AccessControl(protection: protection, names: names))
    return bench
  }

  @Test(arguments: lockable)
  func `after a restart the passcode is asked for once, and then no more`(protection: ProtectionClass) async throws {
    let bench = try await unlocked(protection).restarted()
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.locked))
    let silent = try await bench.context(interactionNotAllowed: true)
    #expect(await enclaveError { _ = try await bench.get("mail", in: silent) } == .notInteractive)
    #expect(
      await enclaveError { try await bench.store("x", as: "new", try AccessControl(protection: protection)) }
        == .keychain(.locked(protection)))
    try await bench.givePasscode(to: context)
    #expect(try await bench.get("mail", in: context) == "kept")
    #expect(try await bench.get("mail", in: silent) == "kept")
    #expect(await bench.enclave.hasUnlockedKeys)
  }

  @Test func `a wrong passcode unlocks nothing`() async throws {
    let bench = try await unlocked(.afterFirstUnlock).restarted()
    let context = try await bench.context()
    _ = await enclaveError { try await bench.givePasscode("wrong", to: context) }
    #expect(await bench.enclave.status(user: Bench.alice).keybag == .locked)
    #expect(await !bench.enclave.hasUnlockedKeys)
  }

  @Test func `a finger does not unlock what the passcode was never given for`() async throws {
    let bench = try await unlocked(.whenUnlocked, ["biometry-any"]).restarted()
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.locked))
    #expect(bench.sensor.armings.events.isEmpty)
    try await bench.givePasscode(to: context)
    // And then the item's own constraint counts as ever.
    let request = bench.getting("mail", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await request.value == "kept")
  }

  @Test(arguments: lockable)
  func `a logout forgets the keys`(protection: ProtectionClass) async throws {
    let bench = try await unlocked(protection)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .none)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.locked))
  }

  @Test(arguments: lockable)
  func `locked sessions put their classes out of reach at once, without a prompt`(protection: ProtectionClass)
    async throws
  {
    let bench = try await unlocked(protection)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .allLocked)
    let context = try await bench.context()
    guard protection.endsAtSessionLock else {
      #expect(try await bench.get("mail", in: context) == "kept")
      return
    }
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .keychain(.locked(protection)))
    // Bob's have nothing to do with it, and what was found is found.
    #expect(try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery()).count == 1)
  }

  @Test func `the session's word that it is unlocked is not enough: a finger or the passcode must have been seen`()
    async throws
  {
    for seen in ["finger at the lock screen", "passcode", "finger now"] {
      let bench = try await unlocked(.whenUnlocked)
      await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
      bench.clock.advance(seconds: 1)
      await bench.enclave.sessionsChanged(of: Bench.alice, to: .allLocked)
      bench.clock.advance(seconds: 1)
      let context = try await bench.context()
      switch seen {
      case "finger at the lock screen":
        _ = try await bench.enclave.recordExternalVerification(
          user: Bench.alice, matched: Finger.index.print, on: Bench.place)
        await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
      case "passcode":
        await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
        let silent = try await bench.context(interactionNotAllowed: true)
        #expect(await enclaveError { _ = try await bench.get("mail", in: silent) } == .notInteractive)
        try await bench.givePasscode(to: context)
      default:
        await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
        let request = bench.getting("mail", in: context)
        try await bench.sensor.armed(1)
        bench.sensor.press(.index)
        #expect(try await request.value == "kept")
      }
      let later = try await bench.context(interactionNotAllowed: true)
      #expect(try await bench.get("mail", in: later) == "kept", "\(seen)")
    }
  }

  @Test func `a print that is not registered unlocks no session`() async throws {
    let bench = try await unlocked(.whenUnlocked)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
    bench.clock.advance(seconds: 1)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .allLocked)
    _ = try await bench.enclave.recordExternalVerification(
      user: Bench.alice, matched: Finger.middle.print, on: Bench.place)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
    let silent = try await bench.context(interactionNotAllowed: true)
    #expect(await enclaveError { _ = try await bench.get("mail", in: silent) } == .notInteractive)
  }

  @Test func `a password changed without Whorl: while unlocked the new one takes over`() async throws {
    let bench = try await unlocked(.afterFirstUnlock)
    bench.passcodes.setRight("new one")
    try await bench.givePasscode("new one", to: try await bench.context())
    let again = try bench.restarted()
    again.passcodes.setRight("new one")
    let context = try await again.context()
    try await again.givePasscode("new one", to: context)
    #expect(try await again.get("mail", in: context) == "kept")
  }

  @Test func `a password changed without Whorl: locked, the former one is asked for once, and nothing is lost`()
    async throws
  {
    let bench = try await unlocked(.afterFirstUnlock).restarted()
    bench.passcodes.setRight("new one")
    let context = try await bench.context(reuse: 300)
    #expect(
      await enclaveError {
        try await bench.enclave.provideFormerPasscode(context, owner: .alice, passcode: secretBytes("x"))
      }?.busName == "org.whorl.Error.Param")
    try await bench.givePasscode("new one", to: context)
    #expect(await bench.enclave.status(user: Bench.alice).isFormerPasscodeNeeded)
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .formerPasscodeNeeded)
    let wrong = await enclaveError {
      try await bench.enclave.provideFormerPasscode(context, owner: .alice, passcode: secretBytes("neither"))
    }
    #expect(wrong?.busName == "org.whorl.Error.AuthenticationFailed")
    try await bench.enclave.provideFormerPasscode(context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
    #expect(try await bench.get("mail", in: context) == "kept")
    #expect(await !bench.enclave.status(user: Bench.alice).isFormerPasscodeNeeded)

    let again = try bench.restarted()
    again.passcodes.setRight("new one")
    let later = try await again.context()
    try await again.givePasscode("new one", to: later)
    #expect(try await again.get("mail", in: later) == "kept")
  }

  @Test func `the recovery key opens all, also what takes a finger, and takes the former password's place`()
    async throws
  {
    let bench = try await unlocked(.whenPasscodeSet, ["biometry-any"])
    let maker = try await bench.context()
    #expect(
      await enclaveError { _ = try await bench.enclave.makeRecoveryKey(maker, owner: .alice) }
        == .passcodeNeeded(.required))
    try await bench.givePasscode(to: maker)
    let key = try await bench.enclave.makeRecoveryKey(maker, owner: .alice)
    let text = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    #expect(await bench.enclave.status(user: Bench.alice).hasRecoveryKey)

    let again = try bench.restarted()
    again.sensor.setAvailability(.noReader("broken"))
    again.passcodes.setRight("new one")
    let context = try await again.context(reuse: 60)
    let wrong = await enclaveError {
      try await again.enclave.provideRecoveryKey(context, owner: .alice, key: secretBytes("AAAAA-" + text.dropFirst(6)))
    }
    #expect(wrong?.busName == "org.whorl.Error.AuthenticationFailed")
    try await again.givePasscode("new one", to: context)
    try await again.enclave.provideRecoveryKey(context, owner: .alice, key: secretBytes(text))
    #expect(try await again.get("mail", in: context) == "kept")
    #expect(await !again.enclave.status(user: Bench.alice).isFormerPasscodeNeeded)

    // Revoked, it opens nothing.
    #expect(try await again.enclave.revokeRecoveryKey(context, owner: .alice))
    let last = try bench.restarted()
    let other = try await last.context()
    #expect(
      await enclaveError { try await last.enclave.provideRecoveryKey(other, owner: .alice, key: secretBytes(text)) }?
        .busName == "org.whorl.Error.AuthenticationFailed")
  }

  @Test(arguments: [true, false])
  func `an unlock that was begun before a logout does not undo the logout`(isLogout: Bool) async throws {
    let bench = try Bench()
    let first = try await bench.context()
    try await bench.givePasscode(to: first)
    try await bench.store("kept", as: "mail", try AccessControl(protection: .afterFirstUnlock))
    await bench.enclave.lockKeys(of: Bench.alice)
    bench.passcodes.hold()
    let unlock = Task { try await bench.givePasscode(to: first) }
    try await bench.passcodes.attempts.wait { $0.count == 2 }
    if isLogout {
      await bench.enclave.sessionsChanged(of: Bench.alice, to: .none)
    } else {
      await bench.enclave.lockKeys(of: Bench.alice)
    }
    bench.passcodes.letGo()
    try await unlock.value
    #expect(await !bench.enclave.hasUnlockedKeys)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.locked))
    // One that is begun after it unlocks as ever.
    try await bench.givePasscode(to: context)
    #expect(try await bench.get("mail", in: context) == "kept")
  }

  @Test func `a removed password ends the items that were to end with it, and no others`() async throws {
    let bench = try await unlocked(.whenPasscodeSet)
    try await bench.store("stays", as: "other", try AccessControl(protection: .whenUnlocked))
    let context = try await bench.context()
    for state in [PasscodeState.locked, .unknown] {
      bench.passcodes.setState(state)
      #expect(try await bench.get("mail", in: context) == "kept")
    }
    bench.passcodes.setState(.removed)
    let error = await enclaveError { _ = try await bench.get("mail", in: context) }
    #expect(error?.busName == "org.whorl.Error.ItemInvalidated")
    #expect(try await bench.get("other", in: context) == "stays")
    bench.passcodes.setState(.set)
    let again = await enclaveError { _ = try await bench.get("mail", in: context) }
    #expect(again?.busName == "org.whorl.Error.ItemInvalidated")
  }

  @Test func `at its start the daemon finds out that a password was removed meanwhile`() async throws {
    let bench = try await unlocked(.whenPasscodeSet).restarted()
    bench.passcodes.setState(.removed)
    await bench.enclave.lookForPasscode(of: Bench.alice)
    let found = try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery(), includeInvalidated: true)
    #expect(found.first?.item.state.error == .passcodeRemoved(at: bench.clock.wallTime()))
  }

  @Test(arguments: [PasscodeState.removed, .locked])
  func `without a password an item that is to end with it is refused`(state: PasscodeState) async throws {
    let bench = try await unlocked(.always)
    bench.passcodes.setState(state)
    let control = try AccessControl(protection: .whenPasscodeSet)
    #expect(await enclaveError { try await bench.store("x", as: "new", control) } == .passcodeNotSet)
  }

  @Test func `a passcode asked for in the program's place opens items, and makes and exports nothing`() async throws {
    let bench = try Bench()
    for reuse in [0, 300] {
      let context = try await bench.context(reuse: reuse)
      func give() async throws {
        try await bench.enclave.providePasscode(
          context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right), isForItemsOnly: true)
      }
      try await give()
      #expect(
        await enclaveError { _ = try await bench.enclave.makeRecoveryKey(context, owner: .alice) }
          == .passcodeNeeded(.required))
      #expect(
        await enclaveError { _ = try await bench.enclave.revokeRecoveryKey(context, owner: .alice) }
          == .passcodeNeeded(.required))
      try await bench.store("s", as: "n\(reuse)", .devicePasscode)
      #expect(try await bench.get("n\(reuse)", in: context) == "s")
      // Given for itself it does.
      try await bench.givePasscode(to: context)
      _ = try await bench.enclave.makeRecoveryKey(context, owner: .alice)
    }
  }

  @Test func `former passwords are counted and delayed as the password itself is`() async throws {
    let bench = try await unlocked(.afterFirstUnlock).restarted()
    bench.passcodes.setRight("new one")
    let context = try await bench.context()
    try await bench.givePasscode("new one", to: context)
    var errors: [String] = []
    for _ in 0..<4 {
      let error = await enclaveError {
        try await bench.enclave.provideFormerPasscode(context, owner: .alice, passcode: secretBytes("neither"))
      }
      errors.append(error.map { String($0.busName.split(separator: ".").last ?? "") } ?? "")
    }
    #expect(errors == ["AuthenticationFailed", "AuthenticationFailed", "AuthenticationFailed", "PasscodeDelayed"])
    bench.clock.advance(seconds: 31)
    try await bench.enclave.provideFormerPasscode(context, owner: .alice, passcode: secretBytes(ScriptedPasscode.right))
    #expect(try await bench.get("mail", in: context) == "kept")
  }

  @Test(arguments: [false, true])
  func `the former password or the recovery key, in one answer, unlocks and is good for nothing else`(
    isKey: Bool
  ) async throws {
    let first = try await unlocked(.afterFirstUnlock)
    let maker = try await first.context()
    try await first.givePasscode(to: maker)
    let key = try await first.enclave.makeRecoveryKey(maker, owner: .alice)
    let text = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    let bench = try first.restarted()
    bench.passcodes.setRight("new one")
    let context = try await bench.context()
    try await bench.givePasscode("new one", to: context)
    #expect(
      await enclaveError { _ = try await bench.enclave.makeRecoveryKey(context, owner: .alice) }
        == .formerPasscodeNeeded)
    for wrong in ["neither", "AAAAA-" + text.dropFirst(6)] {
      let error = await enclaveError {
        try await bench.enclave.provideFormerPasscodeOrRecoveryKey(context, owner: .alice, answer: secretBytes(wrong))
      }
      #expect(error?.busName == "org.whorl.Error.AuthenticationFailed")
    }
    let other = try await bench.context()
    try await bench.enclave.provideFormerPasscodeOrRecoveryKey(
      other, owner: .alice, answer: secretBytes(isKey ? text : ScriptedPasscode.right))
    #expect(try await bench.get("mail", in: other) == "kept")
    #expect(
      await enclaveError { _ = try await bench.enclave.makeRecoveryKey(other, owner: .alice) }
        == .passcodeNeeded(.required))
    // Nobody waits for it any more.
    try await bench.enclave.provideFormerPasscodeOrRecoveryKey(other, owner: .alice, answer: secretBytes("neither"))
    // The password that was given before the former one still counts.
    #expect(try await bench.enclave.revokeRecoveryKey(context, owner: .alice))
  }

  @Test func `what was shown before the sessions were locked counts for nothing after`() async throws {
    let bench = try await unlocked(.whenUnlocked, ["device-passcode"])
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
    let context = try await bench.context(reuse: 300)
    try await bench.givePasscode(to: context)
    #expect(try await bench.get("mail", in: context) == "kept")
    bench.clock.advance(seconds: 1)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .allLocked)
    await bench.enclave.lockKeys(of: Bench.alice)
    // Locked by hand meanwhile: the screen is locked all the same.
    #expect(await bench.enclave.status(user: Bench.alice).keybag == .locked)
    await bench.enclave.sessionsChanged(of: Bench.alice, to: .open)
    #expect(await enclaveError { _ = try await bench.get("mail", in: context) } == .passcodeNeeded(.locked))
  }

  @Test func `an account forgotten or locked by its user has to give the passcode again`() async throws {
    let bench = try await unlocked(.afterFirstUnlock)
    await bench.enclave.lockKeys(of: Bench.alice)
    #expect(await bench.enclave.status(user: Bench.alice).keybag == .locked)
    _ = try await bench.enclave.forget(Bench.alice)
    #expect(await !bench.enclave.hasUnlockedKeys)
  }

  @Test func `keys stay unlocked though more keychains are used than are kept open`() async throws {
    let bench = try await unlocked(.afterFirstUnlock)
    for uid in 2000..<UInt32(2000 + KeychainShelf.capacity + 2) {
      await bench.enclave.learn(UserID(uid), .named("user\(uid)"))
      _ = await bench.enclave.status(user: UserID(uid))
    }
    #expect(try await bench.get("mail", in: try await bench.context()) == "kept")
  }
}

/// Several constraints on one item, and programs' own passwords.
@Suite(.timeLimit(.minutes(1)))
struct `Combined constraints` {
  @Test func `finger and passcode: neither alone opens it`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("both", as: "vault", try AccessControl(names: ["biometry-any", "and", "device-passcode"]))
    let context = try await bench.context()
    // The passcode is wanted first; no reader is armed for nothing.
    #expect(await enclaveError { _ = try await bench.get("vault", in: context) } == .passcodeNeeded(.required))
    #expect(bench.sensor.armings.events.isEmpty)
    try await bench.givePasscode(to: context)
    let request = bench.getting("vault", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await request.value == "both")
    // Both are used up.
    #expect(await enclaveError { _ = try await bench.get("vault", in: context) } == .passcodeNeeded(.required))
  }

  @Test func `finger and passcode: a passcode that lapses during the touch is asked for again`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("both", as: "vault", try AccessControl(names: ["biometry-any", "and", "device-passcode"]))
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    let request = bench.getting("vault", in: context, timeout: 300)
    try await bench.sensor.armed(1)
    bench.clock.advance(seconds: 61)
    bench.sensor.press(.index)
    #expect(await request.error == .passcodeNeeded(.required))
  }

  @Test func `within the reuse time both cover the next request`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("both", as: "vault", try AccessControl(names: ["biometry-any", "and", "device-passcode"]))
    let context = try await bench.context(reuse: 60)
    try await bench.givePasscode(to: context)
    let request = bench.getting("vault", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await request.value == "both")
    #expect(try await bench.get("vault", in: context) == "both")
    bench.clock.advance(seconds: 61)
    #expect(await enclaveError { _ = try await bench.get("vault", in: context) } == .passcodeNeeded(.required))
  }

  @Test func `finger or passcode: either opens it`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("one", as: "vault", try AccessControl(names: ["biometry-any", "or", "device-passcode"]))
    let context = try await bench.context()
    let request = bench.getting("vault", in: context)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    #expect(try await request.value == "one")
    try await bench.givePasscode(to: context)
    #expect(try await bench.get("vault", in: context) == "one")
  }

  @Test func `the current set or the passcode: after an enrolment the passcode alone opens it`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store(
      "one", as: "vault", try AccessControl(names: ["biometry-current-set", "or", "device-passcode"]))
    try await bench.enrol(.middle)
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("vault", in: context) } == .passcodeNeeded(.required))
    #expect(bench.sensor.armings.events.isEmpty)
    try await bench.givePasscode(to: context)
    #expect(try await bench.get("vault", in: context) == "one")
  }

  @Test func `a program's password is wanted beside the finger, of the context that asks`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    let control = try AccessControl(names: ["biometry-any", "application-password"])
    let context = try await bench.context()
    #expect(
      await enclaveError { try await bench.store("x", as: "vault", control, in: context) }
        == .keychain(.applicationPasswordNeeded))
    try await bench.enclave.provideApplicationPassword(context, owner: .alice, password: secretBytes("of the app"))
    try await bench.store("deep", as: "vault", control, in: context)

    let other = try await bench.context()
    #expect(await enclaveError { _ = try await bench.get("vault", in: other) } == .keychain(.applicationPasswordNeeded))
    #expect(bench.sensor.armings.events.isEmpty)
    for (number, password, wanted) in [(1, "wrong", nil), (2, "of the app", "deep")] as [(Int, String, String?)] {
      try await bench.enclave.provideApplicationPassword(other, owner: .alice, password: secretBytes(password))
      let request = bench.getting("vault", in: other)
      try await bench.sensor.armed(number)
      bench.sensor.press(.index)
      if let wanted {
        #expect(try await request.value == wanted)
      } else {
        #expect(await request.error == .keychain(.wrongApplicationPassword))
      }
    }
    // Bob's context is none of Alice's.
    #expect(
      await enclaveError {
        try await bench.enclave.provideApplicationPassword(other, owner: .bob, password: secretBytes("x"))
      } == .invalidContext)
  }

  @Test func `a private key's bytes never leave, whatever is shown`() async throws {
    let bench = try Bench()
    var attributes = ItemAttributes(itemClass: .key)
    attributes.keyRole = .private
    attributes.keyType = .ed25519
    attributes.label = "k"
    try await bench.enclave.add(
      user: Bench.alice, attributes: attributes, accessControl: .unconstrained,
      secret: secretBytes("a seed of Ed25519 has 32 bytes.."))
    let context = try await bench.context()
    let query = ItemQuery(itemClass: .key)
    #expect(
      await enclaveError { _ = try await bench.enclave.copySecret(context, owner: .alice, query: query) }?.busName
        == "org.whorl.Error.Denied")
    #expect(
      await enclaveError {
        try await bench.enclave.update(
          context, owner: .alice, query: query, changes: ItemQuery(), secret: secretBytes("other"))
      }?.busName == "org.whorl.Error.Denied")
    try await bench.enclave.update(context, owner: .alice, query: query, changes: ItemQuery(label: "renamed"))
    #expect(try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery(label: "renamed")).count == 1)
  }
}
