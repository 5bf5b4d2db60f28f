import Glibc
import Keychain
import KeychainArchive
import SecretMemory
import Testing

@testable import Enclave

/// A memory file, closed when it ends.
private final class Memory: Sendable {
  let file: Int32
  init() throws { file = try MemoryFile.make(name: "test") }
  deinit { close(file) }

  var bytes: [UInt8] {
    var status = stat()
    fstat(file, &status)
    var bytes = [UInt8](repeating: 0, count: status.st_size)
    _ = pread(file, &bytes, bytes.count, 0)
    return bytes
  }

  /// Another with these bytes.
  static func holding(_ bytes: some Collection<UInt8>) throws -> Memory {
    let memory = try Memory()
    let bytes = Array(bytes)
    _ = pwrite(memory.file, bytes, bytes.count, 0)
    return memory
  }
}

/// What an item is and holds, for comparisons.
private struct Held: Equatable, CustomStringConvertible {
  var service: String
  var control: AccessControl
  var description: String { "\(service) (\(control.names), \(control.protection.name))" }
}

extension Bench {
  fileprivate func export(
    into memory: Memory, in context: ContextID, passphrase: String = "phrase", owner: ContextOwner = .alice
  ) async throws -> ExportSummary {
    try await enclave.export(
      context, owner: owner, into: memory.file, passphrase: try secretBytes(passphrase), cost: .none)
  }

  fileprivate func exporting(
    into memory: Memory, in context: ContextID, owner: ContextOwner = .alice
  ) -> Task<ExportSummary, any Error> {
    Task { try await self.export(into: memory, in: context, owner: owner) }
  }

  fileprivate func importing(
    _ memory: Memory, _ existing: ExistingItems = .refuse, passphrase: String = "phrase", owner: ContextOwner = .alice,
    control: AccessControl = .unconstrained, in context: ContextID? = nil
  ) async throws -> ImportSummary {
    let chosen: ContextID
    if let context { chosen = context } else { chosen = try await self.context(of: owner) }
    return try await enclave.importItems(
      chosen, owner: owner, from: memory.file, passphrase: try secretBytes(passphrase),
      plan: ImportPlan(existing: existing, accessControl: control))
  }

  fileprivate func held(by user: UserID = Bench.alice) async throws -> [Held] {
    try await enclave.copyMatching(user: user, query: ItemQuery()).map {
      Held(service: $0.item.attributes.service, control: $0.item.accessControl)
    }
  }

  /// An export of everything, by passcode and, where need be, a finger.
  fileprivate func everything(touching: Bool = true) async throws -> (memory: Memory, summary: ExportSummary) {
    let memory = try Memory()
    let context = try await context()
    try await givePasscode(to: context)
    let before = sensor.armings.events.count
    let task = exporting(into: memory, in: context)
    if touching {
      try await sensor.armed(before + 1)
      sensor.press(.index)
    }
    return (memory, try await task.value)
  }
}

@Suite(.timeLimit(.minutes(1)))
struct `A backup` {
  private static func controls() throws -> [(String, AccessControl)] {
    [
      ("open", .unconstrained), ("presence", try AccessControl(names: ["user-presence"])),
      ("any", try AccessControl(names: ["biometry-any"])),
      ("current", try AccessControl(names: ["biometry-current-set"])),
      ("passcode", try AccessControl(names: ["device-passcode"])),
      ("both", try AccessControl(names: ["biometry-any", "device-passcode", "and"])),
      ("either", try AccessControl(names: ["biometry-current-set", "device-passcode", "or"])),
      ("session", try AccessControl(protection: .whenUnlocked, names: ["user-presence"])),
      ("first", try AccessControl(protection: .afterFirstUnlock)),
      ("ending", try AccessControl(protection: .whenPasscodeSet)),
    ]
  }

  /// A keychain with an item of every kind that goes out.
  private func filled() async throws -> Bench {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.givePasscode(to: try await bench.context())
    for (name, control) in try Self.controls() { try await bench.store("secret of \(name)", as: name, control) }
    return bench
  }

  @Test func `takes the passcode and one touch, and brings everything back`() async throws {
    let bench = try await filled()
    let before = try await bench.held()
    let memory = try Memory()
    let context = try await bench.context()
    #expect(await enclaveError { _ = try await bench.export(into: memory, in: context) } == .passcodeNeeded(.required))
    #expect(memory.bytes.isEmpty && bench.sensor.armings.events.isEmpty)
    try await bench.givePasscode(to: context)
    let task = bench.exporting(into: memory, in: context)
    try await bench.sensor.armed(1)
    #expect(memory.bytes.isEmpty)
    bench.sensor.press(.index)
    #expect(
      try await task.value
        == {
          var all = ExportSummary(); all.exported = 10; return all
        }())
    #expect(bench.sensor.armings.events.count == 1)
    for (name, _) in try Self.controls() {
      #expect(memory.bytes.firstRange(of: Array("secret of \(name)".utf8)) == nil)
    }
    // The tickets are used up.
    #expect(
      await enclaveError { _ = try await bench.export(into: try Memory(), in: context) } == .passcodeNeeded(.required))

    #expect(try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true) == 10)
    let added = try await bench.importing(memory)
    #expect(
      added
        == {
          var all = ImportSummary(); all.added = 10; return all
        }())
    #expect(try await bench.held() == before)
    for name in ["open", "first", "ending"] {
      #expect(try await bench.get(name, in: try await bench.context()) == "secret of \(name)")
    }
    let reading = bench.getting("current", in: try await bench.context())
    try await bench.sensor.armed(2)
    bench.sensor.press(.index)
    #expect(try await reading.value == "secret of current")
    #expect(bench.sensor.armings.events.count == 2)
    await bench.expectIdle()
  }

  @Test func `without items that ask for a finger takes the passcode alone, and not less`() async throws {
    let bench = try Bench()
    try await bench.store("x", as: "open", nil)
    #expect(
      await enclaveError { _ = try await bench.export(into: try Memory(), in: try await bench.context()) }
        == .passcodeNeeded(.required))
    #expect(try await bench.everything(touching: false).summary.exported == 1)
    #expect(bench.sensor.armings.events.isEmpty)
    bench.passcodes.setState(.locked)
    #expect(
      await enclaveError { _ = try await bench.export(into: try Memory(), in: try await bench.context()) }
        == .passcodeNotSet)
    let silent = try await bench.context(interactionNotAllowed: true)
    #expect(await enclaveError { _ = try await bench.export(into: try Memory(), in: silent) } == .notInteractive)
  }

  @Test func `a wrong finger, a cancelled wait, or another's context gives nothing`() async throws {
    let bench = try await filled()
    let memory = try Memory()
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    #expect(
      await enclaveError { _ = try await bench.export(into: memory, in: context, owner: .bob) } == .invalidContext)
    let wrong = bench.exporting(into: memory, in: context)
    for number in 1...3 {
      try await bench.sensor.armed(number)
      bench.sensor.pressWrong()
    }
    #expect(await wrong.failure?.busName == "org.whorl.Error.AuthenticationFailed")
    let cancelled = bench.exporting(into: memory, in: context)
    try await bench.sensor.armed(4)
    try await bench.enclave.cancel(context, owner: .alice, how: .user)
    #expect(await cancelled.failure == .userCancel)
    let vanished = bench.exporting(into: memory, in: context)
    try await bench.sensor.armed(5)
    await bench.enclave.connectionClosed(ContextOwner.alice.connection)
    #expect(await vanished.failure == .appCancel)
    #expect(memory.bytes.isEmpty)
    await bench.expectIdle()
  }

  @Test func `leaves out what is not to leave, and counts it`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    try await bench.givePasscode(to: try await bench.context())
    try await bench.store("x", as: "open", nil)
    for protection in ProtectionClass.allCases where protection.isThisDeviceOnly {
      try await bench.store("x", as: protection.name, try AccessControl(protection: protection))
    }
    try await bench.store("x", as: "gone", .biometryCurrentSet)
    try await bench.enrol(.middle)
    let context = try await bench.context()
    try await bench.enclave.provideApplicationPassword(context, owner: .alice, password: try secretBytes("own"))
    try await bench.enclave.add(
      user: Bench.alice, attributes: ItemAttributes(service: "program", account: "me"),
      accessControl: try AccessControl(names: ["application-password"]), secret: try secretBytes("x"),
      context: (context, .alice))
    var key = ItemAttributes(itemClass: .key)
    key.keyRole = .private
    key.keyType = .ed25519
    try await bench.enclave.add(
      user: Bench.alice, attributes: key, accessControl: .unconstrained,
      secret: try secretBytes(String(repeating: "k", count: 32)))
    let (memory, summary) = try await bench.everything(touching: false)
    #expect(summary.exported == 1)
    #expect(summary.thisDeviceOnly == 4)
    #expect(summary.gone == 1)
    #expect(summary.applicationPassword == 1)
    #expect(summary.privateKeys == 1)
    #expect(summary.unreadable == 0)
    #expect(try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true) == 8)
    #expect(try await bench.importing(memory).added == 1)
    #expect(try await bench.held().map(\.service) == ["open"])
  }

  @Test func `after a restart unlocks with the passcode what it needs`() async throws {
    let bench = try await filled().restarted()
    #expect(try await bench.everything().summary.exported == 10)
  }

  // MARK: - Import

  @Test func `changes nothing where the passphrase is wrong or the file is not whole`() async throws {
    let bench = try await filled()
    let memory = try await bench.everything().memory
    #expect(try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true) == 10)
    try await bench.store("x", as: "mine", nil)
    #expect(
      await enclaveError { _ = try await bench.importing(memory, passphrase: "wrong") } == .archive(.wrongPassphrase))
    let bytes = memory.bytes
    let cut = try Memory.holding(bytes.dropLast())
    #expect(await enclaveError { _ = try await bench.importing(cut) } == .archive(.truncated))
    var flipped = bytes
    flipped[bytes.count - 1] ^= 1
    let altered = try Memory.holding(flipped)
    #expect(await enclaveError { _ = try await bench.importing(altered) } == .archive(.altered))
    let other = try Memory.holding("name,secret".utf8)
    #expect(await enclaveError { _ = try await bench.importing(other) } == .archive(.notAnExportFile))
    #expect(try await bench.held().map(\.service) == ["mine"])
  }

  @Test func `of what is there already is refused whole, and named`() async throws {
    let bench = try await filled()
    let memory = try await bench.everything().memory
    _ = try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true)
    try await bench.store("mine", as: "passcode", nil)
    let error = await enclaveError { _ = try await bench.importing(memory) }
    #expect(error?.busName == "org.whorl.Error.DuplicateItem")
    #expect(error?.message.hasPrefix("\"passcode / me\" is in the keychain already") == true)
    #expect(try await bench.held().map(\.service) == ["passcode"])

    let skipped = try await bench.importing(memory, .skip)
    #expect((skipped.added, skipped.skipped, skipped.replaced) == (9, 1, 0))
    #expect(try await bench.get("passcode", in: try await bench.context()) == "mine")
    let several = await enclaveError { _ = try await bench.importing(memory) }
    #expect(several?.message.contains("and 9 others, are") == true)
    let again = try await bench.importing(memory, .skip)
    #expect((again.added, again.skipped, again.replaced) == (0, 10, 0))
  }

  @Test func `that replaces asks for what the old items ask for, once`() async throws {
    let bench = try await filled()
    let memory = try await bench.everything().memory
    let context = try await bench.context()
    // "both" and "any" ask for a finger, "passcode" for the passcode.
    #expect(
      await enclaveError { _ = try await bench.importing(memory, .replace, in: context) } == .passcodeNeeded(.required))
    try await bench.givePasscode(to: context)
    let refused = Task { try await bench.importing(memory, .replace, in: context) }
    try await bench.sensor.armed(2)
    try await bench.enclave.cancel(context, owner: .alice, how: .user)
    #expect(await refused.failure == .userCancel)
    let granted = Task { try await bench.importing(memory, .replace, in: context) }
    try await bench.sensor.armed(3)
    bench.sensor.press(.index)
    let result = try await granted.value
    #expect((result.added, result.skipped, result.replaced) == (0, 0, 10))
    #expect(bench.sensor.armings.events.count == 3)
    #expect(try await bench.held().count == 10)
  }

  @Test func `that replaces what asks for nothing does not ask`() async throws {
    let bench = try Bench()
    try await bench.store("file's", as: "open", nil)
    let memory = try await bench.everything(touching: false).memory
    _ = try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true)
    try await bench.store("mine", as: "open", nil)
    #expect(try await bench.importing(memory, .replace).replaced == 1)
    #expect(try await bench.get("open", in: try await bench.context()) == "file's")
  }

  @Test func `binds to the fingers of this machine, and needs one before anything changes`() async throws {
    let bench = try await filled()
    let memory = try await bench.everything().memory
    try await bench.givePasscode(to: try await bench.context(of: .bob), owner: .bob)
    #expect(
      await enclaveError { _ = try await bench.importing(memory, owner: .bob) } == .biometryNotEnrolled(.secret))
    #expect(try await bench.held(by: Bench.bob).isEmpty)
    try await bench.enrol(.middle, of: Bench.bob)
    #expect(try await bench.importing(memory, owner: .bob).added == 10)
    let reading = bench.getting("current", in: try await bench.context(of: .bob), owner: .bob)
    try await bench.sensor.armed(2)
    bench.sensor.press(.middle)
    #expect(try await reading.value == "secret of current")
    // From then on it ends with them.
    try await bench.enrol(.index, of: Bench.bob)
    let error = await enclaveError {
      _ = try await bench.get("current", in: try await bench.context(of: .bob), owner: .bob)
    }
    #expect(error?.busName == "org.whorl.Error.ItemInvalidated")
  }

  @Test func `into a locked keychain takes the passcode where a class needs it`() async throws {
    let bench = try await filled()
    let memory = try await bench.everything().memory
    _ = try await bench.enclave.delete(user: Bench.alice, query: ItemQuery(), all: true)
    let restarted = try bench.restarted()
    let context = try await restarted.context()
    #expect(
      await enclaveError { _ = try await restarted.importing(memory, in: context) } == .passcodeNeeded(.locked))
    #expect(try await restarted.held().isEmpty)
    try await restarted.givePasscode(to: context)
    #expect(try await restarted.importing(memory, in: context).added == 10)
  }

  // MARK: - Files made elsewhere

  /// A file of these items, which somebody with the passphrase made.
  private func file(_ items: [(attributes: [UInt8], control: [UInt8], secret: String)]) throws -> Memory {
    let memory = try Memory()
    let key = try ArchiveKey.make(passphrase: try secretBytes("phrase"), cost: .none)
    let writer = try ArchiveWriter(to: memory.file, key: key)
    for item in items {
      try writer.write(attributes: item.attributes, accessControl: item.control, secret: try secretBytes(item.secret))
    }
    try writer.finish()
    return memory
  }

  private func named(_ name: String) -> [UInt8] { PlainAttributes.bytes(service: "whorl", name: name) }

  @Test func `of a list stores it as the importer says`() async throws {
    let bench = try Bench()
    let control = try AccessControl(names: ["user-presence"])
    let memory = try file((0..<100).map { (named("n\($0)"), [], "s\($0)") })
    #expect(try await bench.importing(memory, control: control).added == 100)
    let items = try await bench.enclave.copyMatching(user: Bench.alice, query: ItemQuery()).map(\.item)
    #expect(items.map(\.attributes.account) == (0..<100).map { "n\($0)" })
    #expect(items.allSatisfy { $0.accessControl == control && $0.attributes.label == $0.attributes.account })
  }

  @Test func `refuses a file that says the same item twice, whatever is to become of existing ones`() async throws {
    let bench = try Bench()
    let memory = try file([(named("a"), [], "1"), (named("b"), [], "2"), (named("a"), [], "3")])
    for existing in ExistingItems.allCases {
      let error = await enclaveError { _ = try await bench.importing(memory, existing) }
      #expect(error?.message.contains("\"whorl / a\" twice") == true)
    }
    #expect(try await bench.held().isEmpty)
  }

  @Test func `refuses content that no export has, and changes nothing`() async throws {
    let bench = try Bench()
    let good = named("good")
    // A private key, and a program's password, are no file's to bring.
    let key: [UInt8] = [UInt8](repeating: 0, count: 24) + [3, 19, 7, 0, 0, 0] + Array("private".utf8)
    for (attributes, control) in [
      ([1, 2, 3], []), (named("x"), [9, 9]), (named("x"), [1, 1, 1, 5]), (key, []), (named("x\0"), []),
    ] as [([UInt8], [UInt8])] {
      let memory = try file([(good, [], "1"), (attributes, control, "2")])
      #expect(await enclaveError { _ = try await bench.importing(memory) } != nil)
      #expect(try await bench.held().isEmpty)
    }
  }

  @Test func `is given up where the caller goes, and nothing of it is left`() async throws {
    let bench = try Bench()
    let memory = try file((0..<100).map { (named("n\($0)"), [], "s") })
    let context = try await bench.context()
    let enclave = bench.enclave
    await enclave.onBackupPart {
      // In the midst of the transaction, not of the look at the file before it.
      guard await !enclave.backups.isEmpty else { return }
      await enclave.connectionClosed(ContextOwner.alice.connection)
    }
    #expect(await enclaveError { _ = try await bench.importing(memory, in: context) } == .invalidContext)
    #expect(try await bench.held().isEmpty)
    #expect(await enclave.backups.isEmpty)
    // And the next one goes well.
    await enclave.onBackupPart(nil)
    let owner = ContextOwner(connection: ":1.11", user: Bench.alice)
    #expect(try await bench.importing(memory, owner: owner).added == 100)
  }

  @Test func `lets others' requests go on, and refuses changes of the same keychain meanwhile`() async throws {
    let bench = try Bench()
    let memory = try file((0..<100).map { (named("n\($0)"), [], "s") })
    let enclave = bench.enclave
    let refusals = EventLog<String>()
    await enclave.onBackupPart {
      guard await !enclave.backups.isEmpty else { return }
      let own = await enclaveError { try await bench.store("x", as: "mine", nil) }
      let second = await enclaveError { _ = try await bench.importing(memory, .skip) }
      let third = await enclaveError { _ = try await bench.export(into: try Memory(), in: try await bench.context()) }
      refusals.append([own, second, third].map { $0?.busName ?? "none" }.joined(separator: " "))
      // What is not there yet is not seen.
      let seen = try? await bench.held().count
      refusals.append("\(seen ?? -1)")
      _ = await enclaveError { try await bench.store("x", as: "other \(refusals.events.count)", nil, of: Bench.bob) }
    }
    #expect(try await bench.importing(memory).added == 100)
    let busy = "org.whorl.Error.StoreUnavailable org.whorl.Error.Busy org.whorl.Error.Busy"
    #expect(refusals.events == [busy, "0", busy, "0", busy, "0"])
    #expect(try await bench.held(by: Bench.bob).count == 3)
    await enclave.onBackupPart(nil)
    try await bench.store("x", as: "mine", nil)
    #expect(try await bench.held().count == 101)
  }

  @Test func `is exported as a whole or not at all where it gets an item that asks for more`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    for number in 0..<40 { try await bench.store("x", as: "open \(number)", nil) }
    await bench.enclave.onBackupPart {
      _ = await enclaveError { try await bench.store("x", as: "finger", .biometryAny) }
    }
    let context = try await bench.context()
    try await bench.givePasscode(to: context)
    let error = await enclaveError { _ = try await bench.export(into: try Memory(), in: context) }
    #expect(error?.busName == "org.whorl.Error.Busy")
    #expect(bench.sensor.armings.events.isEmpty)
  }
}

extension Enclave {
  fileprivate func onBackupPart(_ body: (@Sendable () async -> Void)?) { betweenBackupParts = body }
}

extension Task where Failure == any Error {
  /// The enclave's error that the task ends with; nil where it ends well.
  fileprivate var failure: EnclaveError? {
    get async {
      switch await result {
      case .success: nil
      case .failure(let error): error as? EnclaveError
      }
    }
  }
}
