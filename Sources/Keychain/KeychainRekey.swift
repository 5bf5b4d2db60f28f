public import SecretMemory

/// New keys for everything that guards secrets and names, in one transaction and in parts, as `KeychainBatch` has it.
///
/// Roots, class keys, item keys and the key of metadata are new: every secret and all attributes are encrypted anew, and the
/// hashes under which items are found are made anew. Who had the old keys reads nothing with them. Items with a program's
/// own password keep their item key inside it. `LastingKeys` stay, so that references, names in the log and registered
/// fingers do. The recovery key and the rescue end with the old roots.
///
/// Not Sendable: for the owner of the keychain. Let go without `commit`, it leaves everything as it was.
public final class KeychainRekey {
  private let batch: KeychainBatch
  private let deviceSlotKey: SecretBytes
  private let passcode: StretchedPassword?
  private let hasPasscode: Bool
  private let classKeys: NewClassKeys
  private let passcodeRoot: SecretBytes
  private let new: Keybag
  private var last: ItemID?
  private var rows: Int?
  /// How many secrets were encrypted anew so far.
  public private(set) var count = 0

  private var old: UserKeychain { batch.keychain }

  /// Begins it.
  /// - Parameters:
  ///   - owner: unlocked, where a passcode was ever given.
  ///   - deviceKey: that the keychain is under.
  ///   - passcode: stretched with fresh parameters; nil only where no passcode was ever given.
  /// - Throws: `.locked` where a class is not unlocked; `.busy` where another long change is under way; what opening and
  ///   writing can meet.
  public init(
    of owner: UserKeychain, deviceKey: borrowing SecretBytes, passcode: StretchedPassword?
  ) throws(KeychainError) {
    batch = try KeychainBatch(on: owner)
    self.passcode = passcode
    hasPasscode = try KeybagSlots.read(from: batch.keychain.database)[.passcode] != nil
    deviceSlotKey = try Keybag.slotKey(deviceKey, user: owner.user)
    passcodeRoot = try Sealing.newKey()
    classKeys = try NewClassKeys.make()
    new = try batch.keychain.keys.renewed(always: classKeys.always)
    try requireUnlocked()
    guard !hasPasscode || passcode != nil else { throw .locked(.whenUnlocked) }
  }

  /// Encrypts the next so many items anew, or fewer where they are large.
  /// - Returns: whether there are more.
  /// - Throws: `.locked` where a class is not unlocked any more; `.tampered`, naming the first item that is damaged; what a
  ///   write can meet. Nothing can follow but letting go.
  public func step(rows wanted: Int, bytes limit: Int = 256 << 10) throws(KeychainError) -> Bool {
    let page = try old.page(ItemQuery(), after: last, count: rows ?? wanted, includeInvalidated: true)
    if let first = page.damaged.first { throw first.error }
    var bytes = 0
    for item in page.items { bytes += try renew(item) }
    // Large secrets come one at a time.
    rows = bytes > limit ? 1 : nil
    last = page.next
    return last != nil
  }

  /// All of it is on the disk when this returns and `StoreUpkeep.checkpoint` was run; the owner of the keychain, and
  /// whoever else has it open, has to open it anew. It is unlocked as it was.
  /// - Throws: as `step`; then nothing was changed.
  public func commit() throws(KeychainError) {
    try requireUnlocked()
    let (database, user) = (old.database, old.user)
    try writeRecords()
    try ClassKeys.store(
      new.metadata, ClassKeys.metadata, root: .device, rootKey: new.root, in: database, user: user)
    try LastingKeys.store(new, in: database, user: user)
    for protection in [ProtectionClass.always] + (hasPasscode ? ClassKeys.ofPasscode : []) {
      let number = ClassKeys.number(protection)
      try classKeys.with(protection) { key throws(KeychainError) in
        if protection.needsPasscode {
          try ClassKeys.store(key, number, root: .passcode, rootKey: passcodeRoot, in: database, user: user)
        } else {
          try ClassKeys.store(key, number, root: .device, rootKey: new.root, in: database, user: user)
        }
      }
    }
    for kind in SlotKind.allCases { try KeybagSlots.remove(kind, from: database) }
    try KeybagSlots.write(new.root, kind: .device, key: deviceSlotKey, in: database, user: user)
    if hasPasscode, let passcode {
      try KeybagSlots.write(
        passcodeRoot, kind: .passcode, key: try UserKeychain.passcodeSlotKey(passcode, pepper: new.pepper),
        parameters: passcode.parameters, in: database, user: user)
    }
    let unlocked = try guarded { () throws(SecretMemoryError) in try passcodeRoot.clone() }
    try batch.commit()
    if hasPasscode { old.unlockState.unlock(unlocked) }
  }

  // MARK: - Parts

  private func requireUnlocked() throws(KeychainError) {
    guard !hasPasscode || (old.unlockState.isUnlocked && !old.unlockState.isSessionLocked) else {
      throw .locked(.whenUnlocked)
    }
  }

  /// What else is encrypted under keys of the metadata.
  private func writeRecords() throws(KeychainError) {
    // One that was altered stays as it is, which counts as locked.
    if let record = try LockoutStore.read(from: old.database, user: old.user, key: old.keys.lockout) {
      try LockoutStore.write(record, in: old.database, user: old.user, key: new.lockout)
    }
    if let owner = try old.owner() {
      try UserKeychain.write(owner: owner, in: old.database, user: old.user, attributesKey: new.attributes)
    }
  }

  /// Gives how many bytes its secret has.
  private func renew(_ item: ItemSummary) throws(KeychainError) -> Int {
    let hashes = SearchHashes(item.attributes, key: new.search)
    let (loss, time) = item.state.loss
    let binding = ItemBinding(
      user: old.user, id: item.id.rawValue, itemClass: item.attributes.itemClass, accessControl: item.accessControl,
      loss: loss, identity: hashes.identity, name: SearchHashes.identity(of: item.attributes, key: new.names))
    let body = ItemBody(
      attributes: item.attributes, created: item.created, modified: item.modified, invalidated: time,
      biometrySet: item.storedSet)
    let attributes = body.bytes.withUnsafeBytes {
      Sealing.seal($0, key: new.attributes, associatedData: binding.associatedData(.itemAttributes))
    }
    var values: [DatabaseValue] = [
      .blob(hashes.identity), .blob(hashes.service), .blob(hashes.account), .blob(hashes.accessGroup),
      .blobOrNull(hashes.label), .blobOrNull(hashes.generic), .blob(attributes),
    ]
    var columns = [
      "identity", "service", "account", "access_group", "label", "generic", "attributes",
    ]
    var bytes = 0
    if item.state == .present {
      let sealed = try secretAnew(item, binding)
      values.append(.blob(sealed.key))
      columns.append("key")
      if let secret = sealed.secret {
        values.append(.blob(secret))
        columns.append("secret")
        bytes = secret.count
      }
      count += 1
    }
    let list = columns.map { "\($0) = ?" }.joined(separator: ", ")
    try old.database.run("UPDATE item SET \(list) WHERE id = ?", values + [.integer(item.id.rawValue)])
    return bytes
  }

  /// The item's key under the new class key, and its secret under that where it is a new one.
  private func secretAnew(
    _ item: ItemSummary, _ binding: ItemBinding
  ) throws(KeychainError) -> (key: [UInt8], secret: [UInt8]?) {
    let control = item.accessControl
    let outer = try classKeys.with(control.protection) { key throws(KeychainError) in
      try old.wrappingKey(control, under: key)
    }
    guard !control.needsApplicationPassword else {
      guard let wrapped = try old.database.blob("SELECT key FROM item WHERE id = ?", [.integer(item.id.rawValue)]),
        let inner = try old.programsPart(wrapped, try old.wrappingKey(control), binding)
      else { throw .tampered("item \(item.id.rawValue) of user \(old.user)") }
      let sealed = inner.withUnsafeBytes {
        Sealing.seal($0, key: outer, associatedData: binding.associatedData(.itemKey))
      }
      return (Array(wrapped.prefix(StretchingParameters.byteCount)) + sealed, nil)
    }
    let secret = try old.open(item, nil)
    let key = try Sealing.newKey()
    return (
      Sealing.seal(key, key: outer, associatedData: binding.associatedData(.itemKey)),
      Sealing.seal(secret, key: key, associatedData: binding.associatedData(.itemSecret))
    )
  }
}

extension UserKeychain {
  /// A rekeying from begin to end, for whoever has nothing else to do; see `KeychainRekey`.
  /// - Returns: how many secrets were encrypted anew.
  /// - Throws: as `KeychainRekey`. Then nothing was changed.
  public func rekey(
    deviceKey: borrowing SecretBytes, passcode: StretchedPassword?
  ) throws(KeychainError) -> Int {
    let rekey = try KeychainRekey(of: self, deviceKey: deviceKey, passcode: passcode)
    while try rekey.step(rows: 1000) {}
    try rekey.commit()
    keys = try Keybag.open(from: database, user: user, deviceKey: deviceKey)
    database.checkpoint()
    return rekey.count
  }
}
