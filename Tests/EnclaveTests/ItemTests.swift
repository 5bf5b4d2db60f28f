import Keychain
import SecretMemory
import Testing

@testable import Enclave

@Suite(.timeLimit(.minutes(1)))
struct `Items` {
  @Test func `are added, listed and deleted without a prompt, whatever guards them`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    for constraint in [Constraint.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode] {
      try await bench.store("s3cret", as: constraint.rawValue, constraint)
    }
    bench.sensor.setAvailability(.noReader("unplugged"))
    let found = try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery())
    #expect(
      found.map(\.item.attributes.service) == [
        "user-presence", "biometry-any", "biometry-current-set", "device-passcode",
      ])
    #expect(try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery(), limit: 2).count == 2)
    #expect(try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(service: "biometry-any")) == 1)
    #expect(try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true) == 3)
    #expect(bench.sensor.questions.events.isEmpty && bench.passcodes.attempts.events.isEmpty)
  }

  @Test func `are one user's own`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", nil)
    let context = try await bench.context(of: .bob)
    let query = ItemQuery(service: "mail")
    #expect(
      await enclaveError { _ = try await bench.get("mail", in: context, owner: .bob) } == .keychain(.itemNotFound))
    #expect(try await bench.enclave.copyMatching(user: Bench.bob, query: query).isEmpty)
    #expect(
      await enclaveError { _ = try await bench.enclave.delete(user: Bench.bob, query: query) }
        == .keychain(.itemNotFound))
    let own = try await bench.context()
    #expect(try await bench.get("mail", in: own) == "s3cret")
  }

  @Test func `are not deleted wholesale without saying so`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", nil)
    let error = await enclaveError { _ = try await bench.enclave.delete(user: Bench.alice, query: ItemQuery()) }
    #expect(error?.busName == "org.whorl.Error.Param")
  }

  @Test func `change only after their constraints were satisfied, attributes too`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("s3cret", as: "mail", .biometryAny)
    let context = try await bench.context()
    var rename = ItemQuery()
    rename.service = "post"
    let refused = Task {
      try await bench.enclave.update(context, owner: .alice, query: ItemQuery(service: "mail"), changes: rename)
    }
    try await bench.sensor.armed(1)
    try await bench.enclave.cancel(context, owner: .alice, how: .user)
    #expect(await enclaveError { try await refused.value } == .userCancel)
    let query = ItemQuery(service: "mail")
    #expect(try await bench.enclave.copyMatching(user: Bench.alice, query: query).count == 1)
    let granted = Task {
      try await bench.enclave.update(
        context, owner: .alice, query: query, changes: rename, secret: try secretBytes("changed"))
    }
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    try await granted.value
    #expect(try await bench.enclave.copyMatching(user: Bench.alice, query: query).isEmpty)
    let read = bench.getting("post", in: context)
    try await bench.sensor.armed(3)
    bench.sensor.press(.index)
    #expect(try await read.value == "changed")
  }

  @Test func `without constraints change without a prompt, those behind the passcode after it`() async throws {
    let bench = try Bench()
    try await bench.store("old", as: "note", nil)
    try await bench.store("old", as: "safe", .devicePasscode)
    let context = try await bench.context()
    try await bench.enclave.update(
      context, owner: .alice, query: ItemQuery(service: "note"), changes: ItemQuery(), secret: try secretBytes("new"))
    #expect(try await bench.get("note", in: context) == "new")
    let safe = ItemQuery(service: "safe")
    let refused = await enclaveError {
      try await bench.enclave.update(
        context, owner: .alice, query: safe, changes: ItemQuery(), secret: try secretBytes("new"))
    }
    #expect(refused == .passcodeNeeded(.required))
    try await bench.givePasscode(to: context)
    try await bench.enclave.update(
      context, owner: .alice, query: safe, changes: ItemQuery(), secret: try secretBytes("new"))
    try await bench.givePasscode(to: context)
    #expect(try await bench.get("safe", in: context) == "new")
  }

  @Test func `are not changed by a query that matches several, or none`() async throws {
    let bench = try Bench()
    try await bench.store("1", as: "a", nil)
    try await bench.store("2", as: "b", nil)
    let context = try await bench.context()
    let several = await enclaveError {
      try await bench.enclave.update(
        context, owner: .alice, query: ItemQuery(account: "me"), changes: ItemQuery(label: "x"))
    }
    #expect(several?.busName == "org.whorl.Error.Param")
    let none = await enclaveError {
      try await bench.enclave.update(
        context, owner: .alice, query: ItemQuery(service: "c"), changes: ItemQuery(label: "x"))
    }
    #expect(none == .keychain(.itemNotFound))
  }

  @Test func `that lost their fingers are told so before any prompt, and a new one of the name counts`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.store("bound", as: "mail", .biometryCurrentSet)
    try await bench.enrol(.middle)
    let context = try await bench.context(interactionNotAllowed: true)
    let error = await enclaveError { _ = try await bench.get("mail", in: context) }
    #expect(error?.busName == "org.whorl.Error.ItemInvalidated")
    #expect(try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery()).isEmpty)
    let all = try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery(), includeInvalidated: true)
    #expect(all.count == 1)
    try await bench.store("anew", as: "mail", nil)
    #expect(try await bench.get("mail", in: context) == "anew")
  }

  @Test func `many items come in parts, each once and in order, also while some are deleted`() async throws {
    let bench = try Bench()
    let names = (0..<25).map { "n\($0)" }
    for name in names { try await bench.store("s", as: name, nil) }
    var seen: [String] = []
    var last: [UInt8]?
    repeat {
      let part = try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery(), limit: 7, after: last)
      seen += part.map(\.item.attributes.service)
      last = part.last?.reference
      // The one that the next part begins after may be gone by then.
      if seen.count == 7 { _ = try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(service: "n6")) }
    } while last != nil
    #expect(seen == names)
    // Another keychain's reference, or none at all, is refused rather than taken for the beginning.
    try await bench.store("s", as: "b", nil, of: Bench.bob)
    let theirs = try await bench.enclave.copyMatching(user: Bench.bob, query: ItemQuery())
    for wrong in [theirs[0].reference, [], [1, 2, 3]] {
      let error = await enclaveError {
        _ = try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery(), after: wrong)
      }
      #expect(error?.busName == "org.whorl.Error.Param")
    }
  }

  @Test func `duplicates are refused by name`() async throws {
    let bench = try Bench()
    try await bench.store("1", as: "mail", nil)
    let error = await enclaveError { try await bench.store("2", as: "mail", .userPresence) }
    #expect(error?.busName == "org.whorl.Error.DuplicateItem")
  }

  @Test func `of many users are served with a bounded number of open keychains`() async throws {
    let bench = try Bench()
    let users = (0..<UInt32(KeychainShelf.capacity + 4)).map { UserID(2000 + $0) }
    for user in users { await bench.enclave.learn(user, .named("u\(user)")) }
    for user in users { try await bench.store("of \(user)", as: "mail", nil, of: user) }
    #expect(await bench.enclave.openKeychains == KeychainShelf.capacity)
    for user in users {
      let owner = ContextOwner(connection: ":1.\(user)", user: user)
      let context = try await bench.context(of: owner)
      #expect(try await bench.get("mail", in: context, owner: owner) == "of \(user)")
    }
    #expect(await bench.enclave.openKeychains == KeychainShelf.capacity)
  }

  @Test func `never lead to a new device key while there are keychains`() async throws {
    let bench = try Bench()
    try await bench.store("s3cret", as: "mail", nil)
    #expect(bench.keys.loads == [true])
    let second = try bench.restarted()
    let context = try await second.context()
    #expect(try await second.get("mail", in: context) == "s3cret")
    #expect(second.keys.loads == [false])
  }
}

extension Enclave {
  var openKeychains: Int { shelf.openCount }
}

@Suite struct `Errors` {
  static let all: [(EnclaveError, String)] = [
    (.authenticationFailed("the password is wrong; try again"), "AuthenticationFailed"), (.userCancel, "UserCancel"),
    (.userFallback, "UserFallback"), (.systemCancel, "SystemCancel"), (.appCancel, "AppCancel"),
    (.passcodeNotSet, "PasscodeNotSet"), (.passcodeNeeded(.required), "PasscodeNeeded"),
    (.passcodeNeeded(.chosen), "PasscodeNeeded"), (.passcodeNeeded(.lockedOut), "PasscodeNeeded"),
    (.passcodeNeeded(.notEnrolled), "PasscodeNeeded"), (.passcodeNeeded(.noReader("no reader")), "PasscodeNeeded"),
    (.passcodeDelayed(seconds: 1), "PasscodeDelayed"), (.biometryNotAvailable("no reader"), "BiometryNotAvailable"),
    (.biometryNotEnrolled(.login), "BiometryNotEnrolled"), (.biometryNotEnrolled(.secret), "BiometryNotEnrolled"),
    (.biometryLockout, "BiometryLockout"), (.invalidContext, "InvalidContext"), (.notInteractive, "NotInteractive"),
    (.timedOut, "TimedOut"), (.busy("busy"), "Busy"), (.denied("denied"), "Denied"), (.parameter("bad"), "Param"),
    (.sensor("broken"), "ReaderFailed"), (.failed("failed"), "Failed"),
    (.keychain(.itemNotFound), "ItemNotFound"), (.keychain(.invalidated(at: 1)), "ItemInvalidated"),
    (.keychain(.duplicateItem), "DuplicateItem"), (.keychain(.invalidParameter("x")), "Param"),
    (.keychain(.unsupported("x")), "Unsupported"), (.keychain(.tooLarge("x", limit: 1)), "TooLarge"),
    (.keychain(.deviceKey("x")), "StoreUnavailable"), (.keychain(.io("x")), "StoreUnavailable"),
    (.keychain(.diskFull("x")), "StoreUnavailable"), (.keychain(.readOnly("x")), "StoreUnavailable"),
    (.keychain(.busy("x")), "StoreUnavailable"), (.keychain(.refusedFile("x")), "StoreUnavailable"),
    (.keychain(.tampered("x")), "StoreDamaged"), (.keychain(.corrupt("x")), "StoreDamaged"),
    (.keychain(.tooNew(path: "x", found: 2, known: 1)), "StoreTooNew"),
    (.keychain(.memory(.outOfMemory(bytes: 1))), "Failed"),
  ]

  @Test(arguments: all)
  func `have a name on the bus and one line for people`(error: EnclaveError, name: String) {
    #expect(error.busName == "org.whorl.Error.\(name)")
    #expect(!error.message.isEmpty && !error.message.contains("\n"))
  }

  @Test func `an item that a person was shown is the one that is given, as it was, or none`() async throws {
    let bench = try Bench()
    for name in ["one", "two"] { try await bench.store(name, as: name, nil) }
    let enclave = bench.enclave
    let context = try await bench.context()
    let query = ItemQuery(account: "me")
    let shown = try await enclave.find(query, of: Bench.alice, for: .read)
    #expect(shown.attributes.service == "one")
    func read() async -> EnclaveError? {
      await enclaveError {
        let secret = try await enclave.copySecret(context, owner: .alice, query: query, shown: shown)
        #expect(secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "one")
      }
    }
    #expect(await read() == nil)
    // Called something else.
    try await enclave.update(context, owner: .alice, query: ItemQuery(service: "one"), changes: ItemQuery(label: "new"))
    #expect(await read()?.busName == "org.whorl.Error.Denied")
    // Guarded by something else.
    let renamed = try await enclave.find(query, of: Bench.alice, for: .read)
    try await enclave.update(
      context, owner: .alice, query: ItemQuery(service: "one"), changes: ItemQuery(),
      accessControl: try AccessControl(protection: .always, constraints: [.devicePasscode]))
    let error = await enclaveError {
      _ = try await enclave.copySecret(context, owner: .alice, query: query, shown: renamed)
    }
    #expect(error?.message.contains("was changed or replaced") == true, "\(String(describing: error))")
    // Gone, with another that matches, and without.
    _ = try await enclave.delete(user: Bench.alice, query: ItemQuery(service: "one"))
    #expect(await read()?.busName == "org.whorl.Error.Denied")
    _ = try await enclave.delete(user: Bench.alice, query: ItemQuery(service: "two"))
    #expect(await read() == .keychain(.itemNotFound))
    #expect(
      await enclaveError { _ = try await enclave.find(query, of: Bench.alice, for: .read) } == .keychain(.itemNotFound))
  }
}
