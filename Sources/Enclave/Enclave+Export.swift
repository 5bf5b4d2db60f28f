internal import Keychain
public import KeychainArchive
public import SecretMemory

extension Enclave {
  /// Writes the whole keychain into an export file, once the context has the passcode and, where an item asks for a
  /// finger, one was touched.
  ///
  /// - Parameters:
  ///   - file: where to write, which must never make anybody wait: a memory file. What is in it after an error is nothing.
  ///   - passphrase: of 1 to 1024 bytes.
  /// - Throws: as `copySecret`; `.archive`; `.busy` where too many others run, or where the keychain got an item meanwhile
  ///   that asks for more than was shown.
  public func export(
    _ context: ContextID, owner: ContextOwner, into file: Int32, passphrase: consuming SecretBytes,
    cost: ArchiveCost = .standard, options: VerificationOptions = VerificationOptions(),
    progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> ExportSummary {
    let held = HeldSecret(passphrase)
    return try await noting(owner, "export") { () async throws(EnclaveError) in
      try await self.exportAll(
        context, owner, into: file, passphrase: try held.clone(), cost: cost, options, progress)
    }
  }

  private func exportAll(
    _ context: ContextID, _ owner: ContextOwner, into file: Int32, passphrase: consuming SecretBytes,
    cost: ArchiveCost, _ options: VerificationOptions, _ progress: @escaping ProgressHandler
  ) async throws(EnclaveError) -> ExportSummary {
    try requireContext(context, owner)
    try requireRoom(for: owner.user)
    let needs = try await needsOfExport(owner.user)
    // The passcode first: nobody computes, or touches the reader, for nothing.
    if let missing = try missing(BackupNeeds(passcode: true), nil, context, owner) {
      _ = try await ask(context, owner, missing.need, options, progress)
    }
    let key = try await archiveKey(passphrase, of: owner.user) { words throws(ArchiveError) in
      try ArchiveKey.make(passphrase: words, cost: cost)
    }
    try await satisfy(needs, context, owner, options, progress)
    return try await alone(owner.user) { () async throws(EnclaveError) in
      try await self.write(key, needs, to: file, context, owner)
    }
  }

  /// The passcode, and what the items ask for that go out.
  private func needsOfExport(_ user: UserID) async throws(EnclaveError) -> BackupNeeds {
    var needs = BackupNeeds(passcode: true)
    var last: ItemID?
    repeat {
      guard !Task.isCancelled else { throw .appCancel }
      let page = try withKeychain(of: user) { keychain throws(KeychainError) in
        try keychain.page(ItemQuery(), after: last, count: Limits.searchRows)
      }
      for item in page.items where Self.isExported(item) {
        needs.protections.insert(item.accessControl.protection)
        needs.include(try need(of: item, user: user))
      }
      last = page.next
      if last != nil { await elsewhere.pause() }
    } while last != nil
    return needs
  }

  /// The items, page by page, into the file.
  private func write(
    _ key: borrowing ArchiveKey, _ needs: BackupNeeds, to file: Int32, _ context: ContextID, _ owner: ContextOwner
  ) async throws(EnclaveError) -> ExportSummary {
    let writer = try archived { () throws(ArchiveError) in try ArchiveWriter(to: file, key: key) }
    var summary = ExportSummary()
    var last: ItemID?
    var rows = Self.backupRows
    repeat {
      // What was shown counts for as long as whoever showed it is there.
      try requireContext(context, owner)
      guard !Task.isCancelled else { throw .appCancel }
      let page = try withKeychain(of: owner.user) { keychain throws(KeychainError) in
        try keychain.page(ItemQuery(), after: last, count: rows, includeInvalidated: true)
      }
      summary.unreadable += page.damaged.count
      var bytes = 0
      for item in page.items where Self.isExported(item, counting: &summary) {
        guard needs.protections.contains(item.accessControl.protection),
          needs.covers(try need(of: item, user: owner.user))
        else { throw .busy("the keychain got an item meanwhile that asks for more than was shown; export it again") }
        bytes += try write(item, to: writer, owner.user, &summary)
      }
      // Large secrets come in small pages.
      rows = bytes > Self.backupBytes ? 1 : Self.backupRows
      last = page.next
      if last != nil { await pauseBackup() }
    } while last != nil
    try archived { () throws(ArchiveError) in try writer.finish() }
    return summary
  }

  /// Gives how many bytes its secret has. One that was altered is counted: the others are not affected.
  private func write(
    _ item: ItemSummary, to writer: ArchiveWriter, _ user: UserID, _ summary: inout ExportSummary
  ) throws(EnclaveError) -> Int {
    guard let secret = try secret(for: item, user) else {
      summary.unreadable += 1
      return 0
    }
    let portable = PortableItem(item)
    try archived { () throws(ArchiveError) in
      try writer.write(
        attributes: portable.attributeBytes, accessControl: portable.accessControlBytes, secret: secret)
    }
    summary.exported += 1
    return secret.count
  }

  /// Nil where the item was altered.
  private func secret(for item: ItemSummary, _ user: UserID) throws(EnclaveError) -> SecretBytes? {
    do throws(EnclaveError) {
      return try withKeychain(of: user) { keychain throws(KeychainError) in
        try keychain.secret(of: item.id, under: item.accessControl)
      }
    } catch {
      guard case .keychain(.tampered) = error else { throw error }
      return nil
    }
  }

  private static func isExported(_ item: ItemSummary) -> Bool {
    var ignored = ExportSummary()
    return isExported(item, counting: &ignored)
  }

  /// Whether an item goes out; where it does not, its reason is counted.
  private static func isExported(_ item: ItemSummary, counting summary: inout ExportSummary) -> Bool {
    if item.state != .present {
      summary.gone += 1
    } else if item.attributes.keyRole == .private {
      summary.privateKeys += 1
    } else if item.accessControl.protection.isThisDeviceOnly {
      summary.thisDeviceOnly += 1
    } else if item.accessControl.needsApplicationPassword {
      summary.applicationPassword += 1
    } else {
      return true
    }
    return false
  }
}
