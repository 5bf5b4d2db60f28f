extension UserKeychain {
  /// The registered fingers, in the order they were enrolled.
  /// - Throws: `.tampered` where the set is not as it was left.
  public func biometrySet() throws(KeychainError) -> [BiometrySetMember] {
    try database.read { () throws(KeychainError) in
      let set = try BiometrySetStore.read(from: database, user: user, keys: keys)
      return set.members
    }
  }

  /// Registers a finger just enrolled, in the place of an earlier one of the same finger and reader.
  ///
  /// In one transaction the items bound to the set lose their secrets (their attributes stay, as invalidated).
  /// - Throws: `.invalidParameter` for a finger outside 1 to 10, an empty print or a bad reader; `.tooLarge`;
  ///   `.tampered` (then `resetBiometrySet` is the way on); what a write can meet.
  public func recordEnrolment(finger: UInt8, reader: String, print: [UInt8]) throws(KeychainError) {
    try Self.check(finger: finger, reader: reader)
    try Self.check(print: print)
    try changeBiometrySet { (members) throws(KeychainError) in
      members.removeAll { $0.finger == finger && $0.reader == reader }
      members.append(
        BiometrySetMember(
          id: Sealing.randomBytes(16), finger: finger, reader: reader,
          printDigest: Sealing.keyedHash(print, key: keys.prints), enrolledAt: now()))
      return true
    }
  }

  /// Removes a finger from the set, before its print leaves the disk; false (and nothing changes) where it is not
  /// in the set. Items bound to the set lose their secrets as in `recordEnrolment`.
  /// - Throws: as `recordEnrolment`.
  public func recordDeletion(finger: UInt8, reader: String) throws(KeychainError) -> Bool {
    try Self.check(finger: finger, reader: reader)
    return try changeBiometrySet { (members) throws(KeychainError) in
      let before = members.count
      members.removeAll { $0.finger == finger && $0.reader == reader }
      return members.count != before
    }
  }

  /// Empties the set, also one that was tampered with; items bound to it lose their secrets.
  /// - Throws: what a write can meet.
  public func resetBiometrySet() throws(KeychainError) {
    try database.write { () throws(KeychainError) in
      let generation = try BiometrySetStore.generation(in: database, user: user, keys: keys)
      try BiometrySetStore.replace(with: [], after: generation, in: database, user: user, keys: keys)
      try invalidateItemsBoundToSet()
    }
    database.checkpoint()
  }

  /// The member with exactly this print; nil where there is none.
  /// - Throws: `.tampered` where the set is not as it was left.
  public func isRegistered(print: [UInt8]) throws(KeychainError) -> BiometrySetMember? {
    try Self.check(print: print)
    let wanted = Sealing.keyedHash(print, key: keys.prints)
    return try biometrySet().first { Sealing.constantTimeEqual($0.printDigest, wanted) }
  }

  /// 32 bytes that stay while the set stays and are new after each change of it. Programs see them, so they are not what
  /// marks the items, and tell nothing of that.
  /// - Throws: `.tampered` where the set is not as it was left.
  public func biometryDomainState() throws(KeychainError) -> [UInt8] {
    let mark = try database.read { () throws(KeychainError) in try setMark() }
    var writer = ByteWriter()
    writer.write("domain-state for programs".utf8)
    writer.write(mark)
    return Sealing.keyedHash(writer.bytes, key: keys.biometrySet)
  }

  /// Whether a finger counts for an item: always, but for one that was stored under another set of fingers and has
  /// something else that opens it.
  /// - Throws: `.tampered` where the set is not as it was left.
  public func takesFinger(_ item: ItemSummary) throws(KeychainError) -> Bool {
    guard item.accessControl.prefersBiometrySet else { return true }
    let mark = try database.read { () throws(KeychainError) in try setMark() }
    return item.storedSet.map { Sealing.constantTimeEqual($0, mark) } ?? false
  }

  /// 32 bytes that are new after each change of the set; within a transaction of the caller's.
  func setMark() throws(KeychainError) -> [UInt8] {
    let set = try BiometrySetStore.read(from: database, user: user, keys: keys)
    var writer = ByteWriter()
    writer.write("domain-state".utf8)
    writer.write(set.record.generation)
    writer.write(set.record.digest)
    return Sealing.keyedHash(writer.bytes, key: keys.biometrySet)
  }

  /// One transaction: the set changes as `change` says (false: it does not), and what was bound to it is gone.
  @discardableResult
  private func changeBiometrySet(
    _ change: (inout [BiometrySetMember]) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> Bool {
    let isChanged = try database.write { () throws(KeychainError) in
      let set = try BiometrySetStore.read(from: database, user: user, keys: keys)
      var members = set.members
      guard try change(&members) else { return false }
      try BiometrySetStore.replace(
        with: members, after: set.record.generation, in: database, user: user, keys: keys)
      try invalidateItemsBoundToSet()
      return true
    }
    if isChanged { database.checkpoint() }
    return isChanged
  }

  private static func check(finger: UInt8, reader: String) throws(KeychainError) {
    guard (1...10).contains(finger) else { throw .invalidParameter("there is no finger \(finger), only 1 to 10") }
    guard !reader.isEmpty, reader.utf8.count <= KeychainLimits.readerBytes, !reader.utf8.contains(0) else {
      throw .invalidParameter("the reader's name must have 1 to \(KeychainLimits.readerBytes) bytes and no NUL")
    }
  }

  private static func check(print: [UInt8]) throws(KeychainError) {
    guard !print.isEmpty else { throw .invalidParameter("the print is empty") }
    guard print.count <= KeychainLimits.printBytes else {
      throw .tooLarge("the print", limit: KeychainLimits.printBytes)
    }
  }
}
