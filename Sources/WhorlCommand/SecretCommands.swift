import GLibLoop
import WhorlClient
import SecretMemory

extension Commands {
  /// The most bytes of a secret that `set` takes: a mebibyte.
  static let secretLimit = 1 << 20

  func get(_ name: String) async throws(CommandFailure) {
    let subject = Escaping.quoted(name)
    guard let item = try await item(named: name) else { throw noSuchSecret(name) }
    if item.isGone {
      guard !item.isPasscodeRemoved else {
        throw CommandFailure(
          .gone,
          "\(subject) is gone for good, for your login password was removed; set one with passwd and store it again: "
            + "whorl set \(Escaping.operand(name))")
      }
      throw CommandFailure(
        .gone,
        "\(subject) is gone for good, for the enrolled fingers changed; store it again: "
          + "whorl set --require current \(Escaping.operand(name))")
    }
    let authorization = try await Authorization.open(
      item, deed: "read", console, service, explain: { await secretFailure($0, $1) })
    // The secret leaves only after the context is closed: nothing waits at the daemon while a slow reader takes it.
    let secret: SecretBytes
    do throws(CommandFailure) {
      secret = try await authorization.run { context, reason, progress throws(WhorlError) in
        try await service.secret(of: name, in: context, reason: reason, progress: progress)
      }
    } catch {
      await authorization.close()
      throw error
    }
    await authorization.close()
    try await console.emit(secret)
  }

  func set(
    _ name: String, _ requirement: Requirement?, _ accessible: Accessibility?
  ) async throws(CommandFailure) {
    let subject = Escaping.quoted(name)
    // Looked at before the secret is asked for: nobody types one for nothing.
    let existing = try await item(named: name)
    try checkRequirement(requirement, of: existing)
    try checkAccessibility(accessible, of: existing)
    if existing.map(\.isGone) ?? true {
      let kept = existing.flatMap { Requirement(constraints: $0.constraints) }
      try await checkFingers(requirement ?? kept, subject)
      if let kept, kept != .presence {
        await console.tell(
          "\(subject) is gone, since \(existing?.isPasscodeRemoved == true ? "the password was removed" : "the fingers changed"); what is stored now requires \(kept.rawValue) as it did."
        )
      }
    }
    let secret = try await newSecret(subject)
    try await store(secret, name, requirement, accessible, existing)
  }

  func list() async throws(CommandFailure) {
    // In parts, printed as they come: a hundred thousand names are no reason to hold them all.
    var last: [UInt8]?
    var json = JSONList(console)
    repeat {
      let part: (items: [ItemListing], next: [UInt8]?)
      do throws(WhorlError) { part = try await service.items(after: last) } catch {
        throw await secretFailure(error, "the secrets")
      }
      for item in part.items {
        guard !isJSON else {
          let guards = Self.guards(item.constraints, item.protection, isGone: item.isGone)
          try await json.add(.object([.init("name", .text(item.name))] + guards))
          continue
        }
        let requirement = Requirement(constraints: item.constraints)?.rawValue
        let words = requirement ?? Escaping.shown(item.constraints.joined(separator: "+"), limit: 64)
        let guards = Self.shown(item.protection, isGone: item.isGone)
        try await console.print("\(Escaping.shown(item.name, limit: 4096))\t\(words)\(guards)")
      }
      last = part.next
    } while last != nil
    if isJSON { try await json.end() }
  }

  /// What guards an item, as members of its object.
  static func guards(_ constraints: [String], _ protection: String, isGone: Bool) -> [JSONText.Member] {
    [
      .init("requires", Requirement(constraints: constraints).map { .text($0.rawValue) } ?? .null),
      .init("constraints", .texts(constraints)), .init("accessible", .text(protection)), .init("gone", .flag(isGone)),
    ]
  }

  func remove(_ name: String) async throws(CommandFailure) {
    do throws(WhorlError) { try await service.remove(name: name) } catch {
      if error.code == .itemNotFound { throw noSuchSecret(name) }
      throw await secretFailure(error, Escaping.quoted(name))
    }
  }

  // MARK: - Parts

  /// What `list` says of a secret or key beside what it requires.
  static func shown(_ protection: String, isGone: Bool) -> String {
    (protection == Accessibility.always.rawValue ? "" : " \(Escaping.shown(protection, limit: 64))")
      + (isGone ? " gone" : "")
  }

  private func item(named name: String) async throws(CommandFailure) -> ItemListing? {
    do throws(WhorlError) {
      let found = try await service.items(named: name)
      return found.first { !$0.isGone } ?? found.first
    } catch { throw await secretFailure(error, Escaping.quoted(name)) }
  }

  private func noSuchSecret(_ name: String) -> CommandFailure {
    // Fingers are the caller's under sudo, secrets are root's.
    let owner = invoker == nil ? "" : " of root"
    return CommandFailure(
      .notFound,
      "no secret\(owner) is called \(Escaping.quoted(name)); "
        + (invoker == nil ? "whorl list shows the names" : "without sudo it is about your own"))
  }

  /// An existing secret keeps what it requires, also one that is gone: changing that under a new secret would be a
  /// silent weakening.
  private func checkRequirement(_ wanted: Requirement?, of item: ItemListing?) throws(CommandFailure) {
    guard let item, item.constraints != wanted?.constraints else { return }
    let has = Requirement(constraints: item.constraints)
    // One that is gone is stored anew, which takes a requirement that this version knows.
    guard wanted != nil || (item.isGone && has == nil) else { return }
    let subject = "\(Escaping.quoted(item.name)) \(item.isGone ? "is gone, but not removed," : "exists")"
    throw CommandFailure(
      .failed,
      "\(subject) and requires \(has?.rawValue ?? "something else")\(wanted.map { ", not \($0.rawValue)" } ?? ""); "
        + "remove it first with whorl rm, then set it")
  }

  /// An existing secret keeps when it is accessible, for the same reason.
  private func checkAccessibility(_ wanted: Accessibility?, of item: ItemListing?) throws(CommandFailure) {
    guard let wanted, let item, item.protection != wanted.rawValue else { return }
    throw CommandFailure(
      .failed,
      "\(Escaping.quoted(item.name)) exists and is accessible \(Escaping.shown(item.protection, limit: 64)), not "
        + "\(wanted.rawValue); remove it first with whorl rm, then set it")
  }

  /// A secret that only fingers open, stored where there is none, would be out of reach.
  func checkFingers(
    _ wanted: Requirement?, _ subject: String, then deed: String = "set it"
  ) async throws(CommandFailure) {
    guard wanted == .any || wanted == .current, let status = try? await service.status() else { return }
    // Where the reader or the store cannot be looked at, nothing is known of the fingers.
    guard !status.readers.isEmpty, status.storeError.isEmpty,
      ["not-enrolled", "available", "locked-out"].contains(status.biometry),
      status.biometry == "not-enrolled" || status.enrolled.allSatisfy(status.unregistered.contains)
    else { return }
    let remedy = status.unregistered.first.map(Self.adoptIt) ?? "enrol one with: whorl enroll"
    if wanted == .current {
      throw CommandFailure(
        .noFingers, "\(subject): no finger is enrolled that may open secrets; \(remedy), then \(deed)")
    }
    let line = "No finger is enrolled that may open \(subject), which stays out of reach until then; \(remedy)"
    await console.tell(invoker == nil ? line : Hints.aboutRoot(line))
  }

  /// From standard input when that is not a terminal, else from two equal answers.
  private func newSecret(_ subject: String) async throws(CommandFailure) -> SecretBytes {
    guard console.inputIsTerminal else {
      let secret = try await console.readInput(limit: Self.secretLimit)
      guard secret.count > 0 else {
        throw CommandFailure(.failed, "nothing came on standard input; \(subject) was not stored, give it a secret")
      }
      return secret
    }
    let first = try await console.ask("Secret for \(subject): ")
    guard first.count > 0 else {
      throw CommandFailure(.failed, "nothing was typed; \(subject) was not stored, give it a secret")
    }
    let second = try await console.ask("The same again: ")
    guard SecretBytes.constantTimeEqual(first, second) else {
      throw CommandFailure(.failed, "the two were not the same; \(subject) was not stored, try again")
    }
    return first
  }

  /// Adds or replaces; goes the other way where another program was faster, a few times at most.
  private func store(
    _ secret: borrowing SecretBytes, _ name: String, _ requirement: Requirement?, _ accessible: Accessibility?,
    _ known: ItemListing?
  ) async throws(CommandFailure) {
    let subject = Escaping.quoted(name)
    var existing = known
    var hasUnlocked = false
    for _ in 0..<3 {
      if let item = existing, !item.isGone {
        try checkRequirement(requirement, of: item)
        try checkAccessibility(accessible, of: item)
        if try await replace(item, secret) { return }
      } else {
        // One that is gone makes way, and leaves what it required.
        try checkRequirement(requirement, of: existing)
        let kept = existing.flatMap { Requirement(constraints: $0.constraints) }
        let keptClass = existing.flatMap { Accessibility(rawValue: $0.protection) }
        do throws(WhorlError) {
          return try await service.add(
            name: name, requirement: requirement ?? kept ?? .presence, accessible: accessible ?? keptClass ?? .always,
            secret: secret)
        } catch {
          switch error.code {
          case .duplicateItem: break
          case .locked where !hasUnlocked && console.hasTerminal:
            hasUnlocked = true
            try await unlock(withRecoveryKey: false, purpose: "store the secret \(subject)")
          default: throw await secretFailure(error, subject)
          }
        }
      }
      existing = try await item(named: name)
    }
    throw CommandFailure(.failed, "\(subject) is being changed by another program; try again when that is done")
  }

  /// False where the item went away meanwhile.
  private func replace(
    _ item: ItemListing, _ secret: borrowing SecretBytes
  ) async throws(CommandFailure) -> Bool {
    let authorization = try await Authorization.open(
      item, deed: "replace", console, service, explain: { await secretFailure($0, $1) })
    let found: Bool
    do throws(CommandFailure) {
      found = try await authorization.run { context, reason, progress throws(WhorlError) in
        do throws(WhorlError) {
          try await service.update(name: item.name, secret: secret, in: context, reason: reason, progress: progress)
          return true
        } catch  where error.code == .itemNotFound {
          return false
        }
      }
    } catch {
      await authorization.close()
      throw error
    }
    await authorization.close()
    return found
  }
}
