/// How items lose their secrets: only after something that was seen to happen, and for good.
extension UserKeychain {
  /// Takes the secrets and wrapped keys of the items bound to the set of fingers, and marks them, within a transaction of
  /// the caller's. Items that cannot be read lose theirs too: the constraint stands in the clear, and their keys went with
  /// the set's epoch.
  func invalidateItemsBoundToSet() throws(KeychainError) {
    // Narrowed down by the constraint's number in the clear; what that finds is looked at closely.
    let code = String(Constraint.biometryCurrentSet.code, radix: 16)
    try takeSecrets(.fingersChanged, where: "instr(access, x'0\(code)') > 0") { $0.isBoundToBiometrySet }
  }

  /// The account's password was seen to be removed: the items of that class lose their secrets, and their class key goes,
  /// so that nothing brings them back. Gives how many items there were.
  /// - Throws: what a write can meet.
  @discardableResult
  public func destroyItemsOfPasscode() throws(KeychainError) -> Int {
    let numbers = ProtectionClass.allCases.filter(\.endsWithPasscode).map { String($0.rawValue) }
    let filter = "protection IN (\(numbers.joined(separator: ", ")))"
    let key = ClassKeys.number(.whenPasscodeSet)
    let hasItems = try database.number("SELECT EXISTS(SELECT 1 FROM item WHERE state = 0 AND \(filter))") != 0
    let hasKey = try ClassKeys.exists(key, in: database)
    guard hasItems || hasKey else { return 0 }
    let count = try database.write { () throws(KeychainError) in
      // The key first: whatever becomes of the rows, nothing opens them any more.
      try ClassKeys.remove(key, from: database)
      return try takeSecrets(.passcodeRemoved, where: filter) { $0.protection.endsWithPasscode }
    }
    database.checkpoint()
    return count
  }

  @discardableResult
  private func takeSecrets(
    _ loss: ItemLoss, where filter: String, _ concerns: (AccessControl) -> Bool
  ) throws(KeychainError) -> Int {
    var rows: [ItemRow] = []
    try database.rows("SELECT \(ItemRow.columns) FROM item WHERE state = 0 AND \(filter) ORDER BY id") {
      (row) throws(KeychainError) in
      rows.append(ItemRow(row))
      return true
    }
    var count = 0
    for row in rows {
      do throws(KeychainError) {
        let item = try row.summary(user: user, keys: keys)
        guard concerns(item.accessControl) else { continue }
        // 0 stands for "not", also where the clock says 1970.
        let time = max(now(), 1)
        let hashes = SearchHashes(item.attributes, key: keys.search)
        let binding = binding(item.id, item.attributes, item.accessControl, hashes, loss: loss)
        let body = ItemBody(
          attributes: item.attributes, created: item.created, modified: item.modified, invalidated: time)
        try database.run(
          "UPDATE item SET state = ?, attributes = ?, key = NULL, secret = NULL WHERE id = ?",
          [.integer(Int64(loss.rawValue)), .blob(seal(body, binding)), .integer(item.id.rawValue)])
        count += 1
      } catch {
        switch error {
        // Its key is not to be had any more: unreadable items can stay as they are.
        case .tampered, .unsupported: continue
        default: throw error
        }
      }
    }
    return count
  }
}
