import GLibLoop
import WhorlClient

extension Commands {
  func fingers(of option: String?) async throws(CommandFailure) {
    let user = try TargetUser.find(option: option, in: surroundings)
    let readers = try await user.isCaller ? ownReaders() : othersReaders(user)
    var count = 0
    if isJSON {
      var list = JSONList(console)
      for reader in readers {
        for name in reader.fingers {
          count += 1
          try await list.add(.object([.init("finger", .text(name)), .init("reader", .text(reader.name))]))
        }
      }
      try await list.end()
    }
    for reader in readers where !isJSON {
      for name in reader.fingers {
        count += 1
        let place = readers.count > 1 ? "\t\(Escaping.shown(reader.name, limit: 64))" : ""
        try await console.print(Escaping.shown(name, limit: 64) + place)
      }
    }
    if count == 0 { throw await nothingEnrolled(user) }
  }

  /// The caller's own fingers by reader, of which whorld tells him without asking polkit.
  private func ownReaders() async throws(CommandFailure) -> [(name: String, fingers: [String])] {
    let status: WhorlStatus
    do throws(WhorlError) { status = try await service.status() } catch { throw failure(error, "fingers") }
    if status.readers.isEmpty { _ = try await readers() }
    return status.readers.map { ($0.name, $0.enrolled) }
  }

  private func othersReaders(_ user: TargetUser) async throws(CommandFailure) -> [(name: String, fingers: [String])] {
    var result: [(name: String, fingers: [String])] = []
    for reader in try await readers() { result.append((reader.name, try await enrolled(user, reader))) }
    return result
  }

  func verify(_ finger: FingerName?, for option: String?) async throws(CommandFailure) {
    let user = try TargetUser.find(option: option, in: surroundings)
    // First of all: it can be done whatever else is missing.
    try await endLockout(of: user)
    let (reader, fingers) = try await readerWithPrints(of: user, finger)
    if let finger, !fingers.contains(finger.name) { throw notEnrolled(finger, user, fingers) }
    let words = finger?.words ?? "any enrolled finger"
    try await claimed(reader, for: user) { reader async throws(CommandFailure) in
      await console.tell(
        "\(RetryTexts.touch(reader.scanType)) (\(Escaping.shown(reader.name, limit: 64))): \(words) of \(user.shown).")
      guard try await matches(finger?.name ?? "any", reader, user) else {
        let (isLockedOut, left) = await missesLeft(of: user)
        let next =
          isLockedOut ? lockedOut(user).message : "try again, or enrol the finger with \(command("enroll", user))"
        throw CommandFailure(
          .authenticationFailed,
          "\(words) of \(user.shown): no match\(left.isEmpty ? "" : " (\(left))"); \(next)")
      }
      await console.tell("It matches.")
    }
  }

  func delete(_ finger: FingerName?, of option: String?, confirmed: Bool) async throws(CommandFailure) {
    let user = try TargetUser.find(option: option, in: surroundings)
    if finger == nil, !confirmed, !canConfirm {
      throw CommandFailure(.usage, "delete needs a finger, or --all for all of them")
    }
    var places: [(reader: ReaderListing, fingers: [String])] = []
    for reader in try await readers() {
      let fingers = try await enrolled(user, reader)
      if !fingers.isEmpty { places.append((reader, fingers)) }
    }
    let all = places.flatMap(\.fingers)
    guard !all.isEmpty else { throw await nothingEnrolled(user) }
    if let finger {
      guard all.contains(finger.name) else { throw notEnrolled(finger, user, all) }
      places.removeAll { !$0.fingers.contains(finger.name) }
    } else if !confirmed {
      let list = all.map(FingerName.words(for:)).joined(separator: ", ")
      guard try await console.confirm("Delete all fingers of \(user.shown) (\(list))?") else { throw .cancelled }
    }
    try await warnOfBoundSecrets(user, asks: !confirmed)
    for place in places {
      try await claimed(place.reader, for: user) { reader async throws(CommandFailure) in
        do throws(WhorlError) { try await service.delete(finger?.name, on: reader) } catch {
          throw await refusal(error, finger?.words ?? "fingers of \(user.shown)", user, reader)
        }
      }
    }
    await console.tell("Deleted: \(finger?.words ?? all.map(FingerName.words(for:)).joined(separator: ", ")).")
  }

  // MARK: - Parts

  /// The readers; none is a failure of its own.
  func readers() async throws(CommandFailure) -> [ReaderListing] {
    do throws(WhorlError) {
      let readers = try await service.readers()
      guard !readers.isEmpty else { throw WhorlError(.fprint(.noSuchDevice), "") }
      return readers
    } catch { throw failure(error, "reader") }
  }

  func enrolled(
    _ user: TargetUser, _ reader: ReaderListing
  ) async throws(CommandFailure) -> [String] {
    do throws(WhorlError) { return try await service.enrolledFingers(of: user.name, on: reader) } catch {
      throw await refusal(error, "fingers of \(user.shown)", user, reader)
    }
  }

  /// The first reader that knows the finger (any for nil), else the first that knows one at all.
  private func readerWithPrints(
    of user: TargetUser, _ finger: FingerName?
  ) async throws(CommandFailure) -> (ReaderListing, [String]) {
    var best: (ReaderListing, [String])?
    for reader in try await readers() {
      let fingers = try await enrolled(user, reader)
      if let finger, fingers.contains(finger.name) { return (reader, fingers) }
      if best == nil, !fingers.isEmpty { best = (reader, fingers) }
    }
    guard let best else { throw await nothingEnrolled(user) }
    return best
  }

  /// Claims the reader around `body`, and lets it go however that ends.
  func claimed(
    _ reader: ReaderListing, for user: TargetUser,
    _ body: (ReaderListing) async throws(CommandFailure) -> Void
  ) async throws(CommandFailure) {
    let mine: ReaderListing
    do throws(WhorlError) { mine = try await service.claim(reader, for: user.name) } catch {
      let failure = await refusal(error, "reader \(Escaping.shown(reader.name, limit: 64))", user, reader)
      // That it could not be opened says less than what is the matter with it.
      throw error.code == .fprint(.internalError) ? await readerTrouble(reader, failure) : failure
    }
    do throws(CommandFailure) { try await body(mine) } catch {
      await service.release(reader)
      throw error
    }
    await service.release(reader)
  }

  /// One verification: whether it matched. Retries are told and go on.
  func matches(
    _ finger: String, _ reader: ReaderListing, _ user: TargetUser
  ) async throws(CommandFailure) -> Bool {
    let story = ScanStory(console, scanType: reader.scanType, stages: nil)
    do throws(WhorlError) {
      try await service.verify(finger, on: reader) { story.take($0) }
      await story.told()
    } catch {
      await story.told()
      if story.verdict == nil || Task.isCancelled { throw await refusal(error, "verify", user, reader) }
    }
    do throws(CommandFailure) { return try story.outcome(of: "verify") == .match } catch {
      throw story.readerFailed ? await readerTrouble(reader, error) : error
    }
  }

  func nothingEnrolled(_ user: TargetUser) async -> CommandFailure {
    let former = user.isCaller ? (try? await service.status())?.formerName : await account(of: user)?.formerName
    if let former {
      return Self.ofFormer(former, "no finger of \(user.shown) is enrolled", now: user.name)
    }
    return CommandFailure(
      .noFingers, "no finger of \(user.shown) is enrolled; enrol one with: \(command("enroll", user))")
  }

  /// A command about the same user, for people to type.
  func command(_ verb: String, _ user: TargetUser) -> String {
    "whorl \(verb)\(user.isCaller ? "" : " --user \(user.shown)")"
  }

  func notEnrolled(_ finger: FingerName, _ user: TargetUser, _ fingers: [String]) -> CommandFailure {
    let list = fingers.map { Escaping.shown($0, limit: 64) }.joined(separator: ", ")
    return CommandFailure(.notFound, "\(finger.words) of \(user.shown) is not enrolled; enrolled: \(list)")
  }

  /// Whether somebody is there to say yes: a script whose input is something else only happens to have a terminal.
  private var canConfirm: Bool { console.hasTerminal && console.inputIsTerminal }

  /// Enrolling and deleting destroy the secrets that are bound to the current fingers: said before, and on a terminal
  /// asked. The caller's own are named; of another account's whorld tells root how many there are, and others nothing.
  func warnOfBoundSecrets(_ user: TargetUser, asks: Bool = true) async throws(CommandFailure) {
    guard let warning = await boundSecretsWarning(user) else { return }
    guard asks, canConfirm else { return await console.tell(warning) }
    guard try await console.confirm("\(warning) Go on?") else { throw .cancelled }
  }

  /// The first of these names, quoted, and how many more there are.
  private static func some(_ names: [String]) -> String {
    names.prefix(10).map(Escaping.quoted).joined(separator: ", ")
      + (names.count > 10 ? " and \(names.count - 10) more" : "")
  }

  private func boundSecretsWarning(_ user: TargetUser) async -> String? {
    guard user.isCaller else {
      guard let account = await account(of: user) else {
        return "This destroys the secrets of \(user.shown) that require the current fingers, if there are any."
      }
      guard account.boundSecrets > 0 else { return nil }
      let secrets = account.boundSecrets == 1 ? "1 secret" : "\(account.boundSecrets) secrets"
      return "This destroys \(secrets) of \(user.shown), which require\(account.boundSecrets == 1 ? "s" : "") "
        + "the current fingers."
    }
    // Fingers can be enrolled though the store is unusable: no answer is no reason to stop.
    guard let items = try? await service.items(named: nil) else { return nil }
    let keys = (try? await service.keys(named: nil)) ?? []
    let current = Requirement.current.constraints
    let parts = [
      ("secrets", items.filter { !$0.isGone && $0.constraints == current }.map(\.name)),
      ("keys", keys.filter { !$0.isGone && $0.constraints == current }.map(\.name)),
    ].filter { !$0.1.isEmpty }
    guard !parts.isEmpty else { return nil }
    let listed = parts.map { "\($0.0) that require the current fingers: \(Self.some($0.1))" }
    return "This destroys the \(listed.joined(separator: "; and the "))."
  }
}
