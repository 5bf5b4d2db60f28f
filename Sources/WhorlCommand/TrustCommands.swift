import GLibLoop
import WhorlClient

extension Commands {
  // MARK: - Fingers

  func adopt(_ chosen: [FingerName]) async throws(CommandFailure) {
    let user = TargetUser(name: surroundings.accounts.name(of: surroundings.effectiveUser) ?? "", isCaller: true)
    let status: WhorlStatus
    do throws(WhorlError) { status = try await service.status() } catch { throw failure(error, "adopt") }
    if !status.storeError.isEmpty { throw WhorlError(.storeUnavailable, status.storeError).failure(about: "adopt") }
    if status.readers.isEmpty { _ = try await readers() }
    guard !status.enrolled.isEmpty else { throw await nothingEnrolled(user) }
    for finger in chosen where !status.enrolled.contains(finger.name) {
      throw notEnrolled(finger, user, status.enrolled)
    }
    let wanted = status.unregistered.filter { name in chosen.isEmpty || chosen.contains { $0.name == name } }
    guard !wanted.isEmpty else {
      let which = chosen.isEmpty ? "Every enrolled finger" : chosen.map(\.words).joined(separator: ", ")
      return await console.tell("\(Self.capitalised(which)) may open secrets already; nothing was changed.")
    }
    guard console.hasTerminal else {
      throw CommandFailure(
        .noTerminal, "adopt: your password is needed and there is no terminal to ask on; run whorl adopt on one")
    }
    await console.tell("To open secrets from now on: \(wanted.map(FingerName.words(for:)).joined(separator: ", ")).")
    await console.tell("Whoever has one of these fingers can read your secrets: go on only if each is yours.")
    try await warnOfBoundSecrets(user, asks: false)
    let adoption = try await withPasscode(to: "let them open your secrets", "adopt") {
      (context) async throws(WhorlError) in try await service.adopt(wanted, on: nil, in: context)
    }
    let words = adoption.fingers.map(FingerName.words(for:)).joined(separator: ", ")
    try await console.print(words.isEmpty ? "They may open secrets already." : "May open secrets now: \(words).")
    if let remark = untrusted(adoption) { await console.tell(remark) }
  }

  // MARK: - Readers

  func listReaders() async throws(CommandFailure) {
    let known = try await knownReaders()
    guard !known.isEmpty else { throw WhorlError(.fprint(.noSuchDevice), "").failure(about: "reader") }
    if isJSON {
      var list = JSONList(console)
      for reader in known {
        try await list.add(
          .object([
            .init("id", reader.id.isEmpty ? .null : .text(reader.id)), .init("name", .text(reader.name)),
            .init("trusted", .flag(reader.isTrusted)), .init("present", .flag(reader.isPresent)),
            .init("place", .text(Self.place(of: reader))),
          ]))
      }
      return try await list.end()
    }
    for reader in known {
      let fields = [
        reader.id.isEmpty ? "-" : Escaping.shown(reader.id, limit: 16), Escaping.shown(reader.name, limit: 64),
        reader.isTrusted ? "trusted" : "untrusted", Self.place(of: reader),
      ]
      try await console.print(fields.joined(separator: "\t"))
    }
  }

  func trustReader(_ id: String?) async throws(CommandFailure) {
    let here = try await knownReaders().filter(\.isPresent)
    let reader: WhorlReader
    if let id {
      guard let found = here.first(where: { $0.id == id }) else { throw Self.noReader(id, "here") }
      reader = found
    } else {
      let open = here.filter { !$0.isTrusted }
      guard !here.isEmpty else { throw WhorlError(.fprint(.noSuchDevice), "").failure(about: "reader") }
      guard let first = open.first else {
        return await console.tell("Every reader that is here is trusted already; nothing was changed.")
      }
      guard open.count == 1 else { throw Self.several(open, "trust") }
      reader = first
    }
    let name = Escaping.shown(reader.name, limit: 64)
    guard !reader.isTrusted else {
      return await console.tell("\(name) is trusted already; nothing was changed.")
    }
    guard !reader.id.isEmpty else {
      throw CommandFailure(
        .failed, "\(name): nobody can tell where it stands, so it cannot be trusted; plug it in elsewhere and try again"
      )
    }
    guard console.hasTerminal else {
      throw CommandFailure(
        .noTerminal, "reader: your password is needed and there is no terminal to ask on; run whorl reader trust on one"
      )
    }
    await console.tell("\(name), \(Self.place(of: reader)), at \(Escaping.shown(reader.place, limit: 200)).")
    await console.tell("Whatever it takes for your finger opens your secrets: go on only if you know this reader.")
    try await withPasscode(to: "trust this reader with your secrets", "reader") {
      (context) async throws(WhorlError) in try await service.trust(reader.id, in: context)
    }
    try await console.print("Trusted: \(name) (\(Escaping.shown(reader.id, limit: 16))).")
  }

  func distrustReader(_ which: WhichReader) async throws(CommandFailure) {
    if case .all = which {
      // Also where the list itself is damaged.
      do throws(WhorlError) { try await service.distrust(nil) } catch { throw failure(error, "reader") }
      return try await console.print("No reader is trusted any more; trust one with: whorl reader trust")
    }
    let trusted = try await knownReaders().filter(\.isTrusted)
    let reader: WhorlReader
    if case .id(let id) = which {
      guard let found = trusted.first(where: { $0.id == id }) else { throw Self.noReader(id, "trusted") }
      reader = found
    } else {
      guard let first = trusted.first else {
        throw CommandFailure(.notFound, "reader: none is trusted; whorl reader list shows those that are here")
      }
      guard trusted.count == 1 else { throw Self.several(trusted, "distrust") }
      // Secrets behind the finger are out of reach afterwards: not by a word too few.
      let id = Escaping.shown(first.id, limit: 16)
      throw CommandFailure(
        .usage,
        "reader distrust: which one? Only \(Escaping.shown(first.name, limit: 64)) is trusted: whorl reader distrust \(id)"
      )
    }
    do throws(WhorlError) { try await service.distrust(reader.id) } catch { throw failure(error, "reader") }
    try await console.print("Trusted no more: \(Escaping.shown(reader.name, limit: 64)).")
  }

  // MARK: - Parts

  private func knownReaders() async throws(CommandFailure) -> [WhorlReader] {
    do throws(WhorlError) { return try await service.knownReaders() } catch { throw failure(error, "reader") }
  }

  /// Asks for the password, and does something in the context that it was given to.
  private func withPasscode<R: Sendable>(
    to reason: String, _ subject: String, _ body: (WhorlContext) async throws(WhorlError) -> R
  ) async throws(CommandFailure) -> R {
    let context: WhorlContext
    do throws(WhorlError) { context = try await service.openContext(promptsItself: true) } catch {
      throw failure(error, subject)
    }
    let result: Result<R, CommandFailure>
    do throws(CommandFailure) {
      try await PasscodeDialog(console: console, service: service)
        .provide(to: context, for: reason, subject: subject)
      do throws(WhorlError) { result = .success(try await body(context)) } catch { throw failure(error, subject) }
    } catch {
      result = .failure(error)
    }
    await service.closeContext(context)
    return try result.get()
  }

  private static func noReader(_ id: String, _ kind: String) -> CommandFailure {
    CommandFailure(
      .notFound, "reader: none of the id \(Escaping.quoted(id)) is \(kind); whorl reader list shows them")
  }

  private static func several(_ readers: [WhorlReader], _ deed: String) -> CommandFailure {
    let list = readers.map { "\(Escaping.shown($0.id, limit: 16)) (\(Escaping.shown($0.name, limit: 64)))" }
    return CommandFailure(.usage, "reader \(deed): which one? Name its id: \(list.joined(separator: ", "))")
  }

  /// Where a reader is, for people.
  private static func place(of reader: WhorlReader) -> String {
    guard reader.isPresent else { return "not here" }
    return switch reader.attachment {
    case "fixed": "built in"
    case "removable": "plugged in"
    case "virtual": "virtual"
    default: "here"
    }
  }

  private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
