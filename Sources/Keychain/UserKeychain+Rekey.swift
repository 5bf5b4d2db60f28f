public import SecretMemory

/// New keys for everything that guards secrets.
extension UserKeychain {
  /// Makes new roots, class keys and item keys and encrypts every secret anew, in one transaction: who had the old keys has
  /// none of it. Items with a program's own password keep their item key inside it. The recovery key and the rescue end
  /// with the old roots.
  ///
  /// - Parameters:
  ///   - deviceKey: that the keychain is under.
  ///   - passcode: stretched with fresh parameters; nil only where no passcode was ever given.
  /// - Returns: how many secrets were encrypted anew.
  /// - Throws: `.locked` where a class is not unlocked; `.tampered`, naming the first item that is damaged; what a write can
  ///   meet. Then nothing was changed.
  public func rekey(
    deviceKey: borrowing SecretBytes, passcode: StretchedPassword?
  ) throws(KeychainError) -> Int {
    let deviceSlotKey = try Keybag.slotKey(deviceKey, user: user)
    let deviceKey = try guarded { () throws(SecretMemoryError) in try deviceKey.clone() }
    let hasPasscode = try KeybagSlots.read(from: database)[.passcode] != nil
    guard !hasPasscode || (unlockState.isUnlocked && !unlockState.isSessionLocked && passcode != nil) else {
      throw .locked(.whenUnlocked)
    }
    let root = try Sealing.newKey()
    let passcodeRoot = try Sealing.newKey()
    let classKeys = try NewClassKeys.make()
    let count = try database.write { () throws(KeychainError) in
      let count = try encryptAnew(under: classKeys)
      let metadata = try guarded { () throws(SecretMemoryError) in try keys.metadata.clone() }
      try ClassKeys.store(metadata, ClassKeys.metadata, root: .device, rootKey: root, in: database, user: user)
      for protection in [ProtectionClass.always] + (hasPasscode ? ClassKeys.ofPasscode : []) {
        try classKeys.with(protection) { key throws(KeychainError) in
          if protection.needsPasscode {
            try ClassKeys.store(
              key, ClassKeys.number(protection), root: .passcode, rootKey: passcodeRoot, in: database, user: user)
          } else {
            try ClassKeys.store(
              key, ClassKeys.number(protection), root: .device, rootKey: root, in: database, user: user)
          }
        }
      }
      for kind in SlotKind.allCases { try KeybagSlots.remove(kind, from: database) }
      try KeybagSlots.write(root, kind: .device, key: deviceSlotKey, in: database, user: user)
      if hasPasscode, let passcode {
        try KeybagSlots.write(
          passcodeRoot, kind: .passcode, key: try Self.passcodeSlotKey(passcode, pepper: keys.pepper),
          parameters: passcode.parameters, in: database, user: user)
      }
      return count
    }
    keys = try Keybag.open(from: database, user: user, deviceKey: deviceKey)
    if hasPasscode { unlockState.unlock(passcodeRoot) }
    database.checkpoint()
    return count
  }

  private func encryptAnew(under classKeys: borrowing NewClassKeys) throws(KeychainError) -> Int {
    var last: ItemID?
    var count = 0
    repeat {
      let page = try page(ItemQuery(), after: last, count: 1000, includeInvalidated: true)
      if let first = page.damaged.first { throw first.error }
      for item in page.items where item.state == .present {
        try encryptAnew(item, under: classKeys)
        count += 1
      }
      last = page.next
    } while last != nil
    return count
  }

  private func encryptAnew(_ item: ItemSummary, under classKeys: borrowing NewClassKeys) throws(KeychainError) {
    let control = item.accessControl
    let binding = binding(item.id, item.attributes, control, SearchHashes(item.attributes, key: keys.search))
    let newOuter = try classKeys.with(control.protection) { key throws(KeychainError) in
      try wrappingKey(control, under: key)
    }
    let id = DatabaseValue.integer(item.id.rawValue)
    guard !control.needsApplicationPassword else {
      guard let wrapped = try database.blob("SELECT key FROM item WHERE id = ?", [id]),
        let inner = try programsPart(wrapped, try wrappingKey(control), binding)
      else { throw .tampered("item \(item.id.rawValue) of user \(user)") }
      let renewed =
        Array(wrapped.prefix(StretchingParameters.byteCount))
        + inner.withUnsafeBytes {
          Sealing.seal($0, key: newOuter, associatedData: binding.associatedData(.itemKey))
        }
      try database.run("UPDATE item SET key = ? WHERE id = ?", [.blob(renewed), id])
      return
    }
    let secret = try open(item, nil)
    let key = try Sealing.newKey()
    try database.run(
      "UPDATE item SET key = ?, secret = ? WHERE id = ?",
      [
        .blob(Sealing.seal(key, key: newOuter, associatedData: binding.associatedData(.itemKey))),
        .blob(Sealing.seal(secret, key: key, associatedData: binding.associatedData(.itemSecret))), id,
      ])
  }
}

/// Fresh class keys, before they are stored.
struct NewClassKeys: ~Copyable {
  let always: SecretBytes
  let afterFirstUnlock: SecretBytes
  let whenUnlocked: SecretBytes
  let whenPasscodeSet: SecretBytes

  static func make() throws(KeychainError) -> NewClassKeys {
    return NewClassKeys(
      always: try Sealing.newKey(), afterFirstUnlock: try Sealing.newKey(), whenUnlocked: try Sealing.newKey(),
      whenPasscodeSet: try Sealing.newKey())
  }

  /// Lends the key of a class.
  func with<R: ~Copyable>(
    _ protection: ProtectionClass, _ body: (borrowing SecretBytes) throws(KeychainError) -> R
  ) throws(KeychainError) -> R {
    switch protection {
    case .always, .alwaysThisDeviceOnly: try body(always)
    case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: try body(afterFirstUnlock)
    case .whenUnlocked, .whenUnlockedThisDeviceOnly: try body(whenUnlocked)
    case .whenPasscodeSet, .whenPasscodeSetThisDeviceOnly: try body(whenPasscodeSet)
    }
  }
}
