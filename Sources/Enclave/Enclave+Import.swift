internal import Keychain
internal import KeychainArchive
public import SecretMemory

extension Enclave {
  /// Puts all that is in an export file into the user's keychain, in one transaction, or nothing.
  ///
  /// Adding asks for nothing, but for the passcode where an item's class is locked; replacing for what the items ask for
  /// that are replaced, once for all of them.
  /// - Parameters:
  ///   - file: a memory file: reading must never make anybody wait. It may change meanwhile; that is noticed.
  ///   - passphrase: of 1 to 1024 bytes.
  /// - Throws: `.archive`; `.conflict` where an item is there already and the plan refuses that; `.biometryNotEnrolled`
  ///   where an item is to be bound to the set of fingers and there is none; `.busy`; as `update`; `.keychain`. In every
  ///   case nothing was changed.
  public func importItems(
    _ context: ContextID, owner: ContextOwner, from file: Int32, passphrase: consuming SecretBytes, plan: ImportPlan,
    options: VerificationOptions = VerificationOptions(), progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> ImportSummary {
    try requireContext(context, owner)
    try requireRoom(for: owner.user)
    let key = try await archiveKey(passphrase, of: owner.user) { words throws(ArchiveError) in
      try ArchiveKey.open(file, passphrase: words)
    }
    let needs = try await survey(file, key, plan, owner.user)
    try await satisfy(needs, context, owner, options, progress)
    return try await alone(owner.user) { () async throws(EnclaveError) in
      try await self.write(file, key, plan, needs, context, owner)
    }
  }

  /// Reads the file to its end, which proves it, and finds out what stands in the way of it.
  /// - Returns: what has to be shown for the items that it replaces.
  private func survey(
    _ file: Int32, _ key: borrowing ArchiveKey, _ plan: ImportPlan, _ user: UserID
  ) async throws(EnclaveError) -> BackupNeeds {
    var needs = BackupNeeds()
    var conflicts = Conflicts()
    var seen: Set<[UInt8]> = []
    var isBound = false
    try await forEach(file, key) { item, _ throws(EnclaveError) in
      let control = item.accessControl ?? plan.accessControl
      guard !control.needsApplicationPassword, item.attributes.keyRole != .private else {
        throw .keychain(.unsupported("importing \(Self.shown(item.attributes)), whose key is no file's to bring"))
      }
      isBound = isBound || control.isBoundToBiometrySet || control.prefersBiometrySet
      needs.protections.insert(control.protection)
      let (identity, existing) = try self.withKeychain(of: user) { keychain throws(KeychainError) in
        (keychain.identity(of: item.attributes), try keychain.item(like: item.attributes))
      }
      guard seen.insert(identity).inserted else {
        throw .parameter("the file has \(Self.shown(item.attributes)) twice; leave one of them out")
      }
      guard let existing else { return }
      switch plan.existing {
      case .refuse: conflicts.add(item.attributes)
      case .skip: break
      case .replace:
        guard Self.isReplaceable(existing) else { throw .denied(Self.notReplaceable(existing)) }
        needs.include(try self.need(of: existing, user: user))
      }
    }
    for protection in needs.protections { try await requirePasscodeIfDue(protection, of: user) }
    if isBound {
      let members = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.biometrySet() }
      guard !members.isEmpty else { throw .biometryNotEnrolled(.secret) }
    }
    if let conflict = conflicts.error { throw conflict }
    return needs
  }

  private func write(
    _ file: Int32, _ key: borrowing ArchiveKey, _ plan: ImportPlan, _ needs: BackupNeeds, _ context: ContextID,
    _ owner: ContextOwner
  ) async throws(EnclaveError) -> ImportSummary {
    let user = owner.user
    var summary = ImportSummary()
    let changes = try withKeychain(of: user) { keychain throws(KeychainError) in try KeychainImport(into: keychain) }
    try await forEach(file, key) { item, secret throws(EnclaveError) in
      // Others had their turn since: whoever asked must still be there.
      try self.requireContext(context, owner)
      if let existing = try Self.keychain({ () throws(KeychainError) in try changes.existing(item) }) {
        switch plan.existing {
        case .refuse:
          var conflicts = Conflicts()
          conflicts.add(item.attributes)
          if let error = conflicts.error { throw error }
        case .skip:
          summary.skipped += 1
          return
        case .replace:
          guard Self.isReplaceable(existing), needs.covers(try self.need(of: existing, user: user)) else {
            throw .busy("\(Self.shown(existing.attributes)) was changed meanwhile; import the file again")
          }
          try Self.keychain { () throws(KeychainError) in try changes.remove(existing.id) }
          summary.replaced += 1
          summary.added -= 1
        }
      }
      try Self.keychain { () throws(KeychainError) in
        try changes.add(item, accessControl: plan.accessControl, secret: secret)
      }
      summary.added += 1
    }
    try Self.keychain { () throws(KeychainError) in try changes.commit() }
    await storeWork.checkpoint(shelf.directory(of: user))
    return summary
  }

  /// Goes through an export file to its end. In between others have their turn at the enclave.
  private func forEach(
    _ file: Int32, _ key: borrowing ArchiveKey,
    _ body: (PortableItem, borrowing SecretBytes) throws(EnclaveError) -> Void
  ) async throws(EnclaveError) {
    let reader = try archived { () throws(ArchiveError) in try ArchiveReader(file, key: key) }
    var (rows, bytes) = (0, 0)
    while let record = try archived({ () throws(ArchiveError) in try reader.next() }) {
      let item = try Self.keychain { () throws(KeychainError) in
        try PortableItem(attributes: record.attributes, accessControl: record.accessControl)
      }
      try body(item, record.secret)
      rows += 1
      bytes += record.secret.count
      if rows == Self.backupRows || bytes > Self.backupBytes {
        (rows, bytes) = (0, 0)
        await pauseBackup()
        guard !Task.isCancelled else { throw .appCancel }
      }
    }
  }

  /// An item under a password of its program's is that program's to replace; a private key is nobody's.
  private static func isReplaceable(_ item: ItemSummary) -> Bool {
    !item.accessControl.needsApplicationPassword && item.attributes.keyRole != .private
  }

  private static func notReplaceable(_ item: ItemSummary) -> String {
    "\(shown(item.attributes)) is a private key, or takes a password of its program's, and is not replaced; delete it first"
  }

  static func shown(_ attributes: ItemAttributes) -> String {
    let names = [attributes.service, attributes.server ?? "", attributes.account, attributes.label ?? ""]
      .filter { !$0.isEmpty }.prefix(2).joined(separator: " / ")
    let text = names.unicodeScalars.prefix(100).map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: "?"
      default: String(scalar)
      }
    }.joined()
    return "\"\(text)\""
  }
}

/// Items that are there already.
private struct Conflicts {
  private var first: String?
  private var count = 0

  mutating func add(_ attributes: ItemAttributes) {
    first = first ?? Enclave.shown(attributes)
    count += 1
  }

  var error: EnclaveError? {
    guard let first else { return nil }
    let others = count == 1 ? "" : ", and \(count - 1) other\(count == 2 ? "" : "s"),"
    let verb = count == 1 ? "is" : "are"
    return .conflict("\(first)\(others) \(verb) in the keychain already; import with another word for what exists")
  }
}
