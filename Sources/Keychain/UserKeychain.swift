public import SecretMemory

/// One user's keychain: items, the set of registered fingers and the lockout record, in one encrypted database.
///
/// Synchronous and not Sendable: one actor owns it. Several instances and processes may have the same database open.
/// It never asks for a finger: whoever calls it has checked the constraints.
public final class UserKeychain {
  /// Opens the keychain in `directory` (mode 0700, made where it is missing), making a new one where there is none.
  /// - Parameters:
  ///   - directory: the user's own folder, such as `/var/lib/whorl/users/1000`.
  ///   - user: whose keychain it is; another user's is refused.
  ///   - deviceKey: 32 bytes, from `DeviceKeyStore`.
  ///   - now: the time in seconds since 1970.
  /// - Throws: `.tooNew`, `.corrupt`, `.tampered`, `.refusedFile`, `.unsupported`, `.readOnly`, `.diskFull`, `.io`.
  public init(
    directory: String, user: UserID, deviceKey: borrowing SecretBytes,
    now: @escaping @Sendable () -> Int64 = UserKeychain.systemTime
  ) throws(KeychainError) {
    throw .unsupported("keychain")
  }

  /// The system's clock, in seconds since 1970.
  public static let systemTime: @Sendable () -> Int64 = { 0 }

  /// Adds an item; it is on the disk when this returns. An invalidated item of the same identity makes way.
  /// - Throws: `.duplicateItem`, `.tooLarge`, `.invalidParameter`, `.unsupported`, and what a write can meet.
  public func add(
    _ attributes: ItemAttributes, accessControl: AccessControl, secret: borrowing SecretBytes
  ) throws(KeychainError) -> ItemID {
    throw .unsupported("keychain")
  }

  /// The items that match, in the order they were added; no secret is decrypted.
  /// - Parameters:
  ///   - limit: the most items to give; nil or 0 for all.
  ///   - includeInvalidated: also those that lost their secret.
  /// - Throws: `.tampered` or `.unsupported`, naming the first matching item that cannot be read (`scan` goes past).
  public func find(
    _ query: ItemQuery, limit: Int? = nil, includeInvalidated: Bool = false
  ) throws(KeychainError) -> [ItemSummary] {
    throw .unsupported("keychain")
  }

  /// As `find`, and going past the items that cannot be read, which it gives beside the others.
  public func scan(
    _ query: ItemQuery, limit: Int? = nil, includeInvalidated: Bool = false
  ) throws(KeychainError) -> (items: [ItemSummary], damaged: [DamagedItem]) {
    throw .unsupported("keychain")
  }

  /// The secret of an item, for a caller that has checked `accessControl`.
  /// - Parameter accessControl: what the caller has checked; the item's own must be the same.
  /// - Throws: `.itemNotFound`, `.invalidated`, `.tampered` (also where the access control is another one).
  public func secret(of id: ItemID, under accessControl: AccessControl) throws(KeychainError) -> SecretBytes {
    throw .unsupported("keychain")
  }

  /// Changes the attributes given in `changes`, and the secret where there is one, in one transaction.
  ///
  /// The class and the access control stay; an access control bound to the fingers binds to the set as it is now
  /// only if the item was still bound to it.
  /// - Parameter accessControl: what the caller has checked; the item's own must be the same.
  /// - Throws: `.duplicateItem` where the new identity is taken; otherwise as `secret` and `add`.
  public func update(
    _ id: ItemID, under accessControl: AccessControl, changes: ItemQuery, secret: borrowing SecretBytes?
  ) throws(KeychainError) {
    throw .unsupported("keychain")
  }

  /// Deletes the items that match, invalidated ones too, and gives their number.
  /// - Parameter all: must be true for a query that names neither service nor account. With an empty query it also
  ///   deletes items that cannot be read.
  /// - Throws: `.invalidParameter` where `all` is needed; `.tampered` for a matching item that cannot be read.
  public func delete(_ query: ItemQuery, all: Bool = false) throws(KeychainError) -> Int {
    throw .unsupported("keychain")
  }

  /// Deletes one item, whether or not it can be read; gives whether there was one.
  public func delete(_ id: ItemID) throws(KeychainError) -> Bool {
    throw .unsupported("keychain")
  }

  /// The registered fingers, in the order they were enrolled.
  /// - Throws: `.tampered` where the set is not as it was left.
  public func biometrySet() throws(KeychainError) -> [BiometrySetMember] {
    throw .unsupported("keychain")
  }

  /// Registers a finger just enrolled, in the place of an earlier one of the same finger and reader.
  ///
  /// In one transaction the items bound to the set lose their secrets (their attributes stay, as invalidated).
  /// - Throws: `.invalidParameter` for a finger outside 1 to 10, an empty print or a bad reader; `.tampered`.
  public func recordEnrolment(finger: UInt8, reader: String, print: [UInt8]) throws(KeychainError) {
    throw .unsupported("keychain")
  }

  /// Removes a finger from the set, before its print leaves the disk; false (and nothing changes) where it is not
  /// in the set. Items bound to the set lose their secrets as in `recordEnrolment`.
  public func recordDeletion(finger: UInt8, reader: String) throws(KeychainError) -> Bool {
    throw .unsupported("keychain")
  }

  /// Empties the set, also one that was tampered with; items bound to it lose their secrets.
  public func resetBiometrySet() throws(KeychainError) {
    throw .unsupported("keychain")
  }

  /// The member with exactly this print; nil where there is none.
  /// - Throws: `.tampered` where the set is not as it was left.
  public func isRegistered(print: [UInt8]) throws(KeychainError) -> BiometrySetMember? {
    throw .unsupported("keychain")
  }

  /// 32 bytes that stay while the set stays and are new after each change of it.
  public func biometryDomainState() throws(KeychainError) -> [UInt8] {
    throw .unsupported("keychain")
  }

  /// The lockout record. One that was altered or lost comes as a locked one with `isDamaged`, not as an error.
  /// - Throws: what reading the database can meet; the caller takes that for locked.
  public func lockout() throws(KeychainError) -> LockoutRecord {
    throw .unsupported("keychain")
  }

  /// Stores the lockout record; on the disk when this returns.
  /// - Throws: `.invalidParameter` for numbers out of range; what a write can meet.
  public func setLockout(_ record: LockoutRecord) throws(KeychainError) {
    throw .unsupported("keychain")
  }
}
