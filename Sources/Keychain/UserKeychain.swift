internal import Glibc
public import SecretMemory

/// One user's keychain: items, the set of registered fingers and the lockout record, in one encrypted database.
///
/// Synchronous and not Sendable: one actor owns it. Several instances and processes may have the same database open.
/// It never asks for a finger: whoever calls it has checked the constraints. Whoever can write the file can destroy
/// items, or put back the whole file from before; what is edited in it is refused.
public final class UserKeychain {
  /// Whose keychain it is.
  public let user: UserID
  let database: Database
  var keys: Keybag
  let unlockState: UnlockState
  let quota: KeychainQuota
  let now: @Sendable () -> Int64

  /// Opens the keychain in `directory` (mode 0700, made where it is missing), making a new one where there is none.
  /// - Parameters:
  ///   - directory: the user's own folder, such as `/var/lib/whorl/users/1000`.
  ///   - user: whose keychain it is; another user's is refused.
  ///   - deviceKey: 32 bytes, from `DeviceKeyStore`.
  ///   - unlockState: what is unlocked of it already; the same for every opening of a user's keychain.
  ///   - quota: how much it may hold; `.usual` but in tests.
  ///   - now: the time in seconds since 1970.
  /// - Throws: `.tooNew`, `.corrupt`, `.tampered`, `.refusedFile`, `.unsupported`, `.readOnly`, `.diskFull`, `.io`,
  ///   `.busy`.
  public convenience init(
    directory: String, user: UserID, deviceKey: borrowing SecretBytes, unlockState: UnlockState = UnlockState(),
    quota: KeychainQuota = .usual, now: @escaping @Sendable () -> Int64 = UserKeychain.systemTime
  ) throws(KeychainError) {
    // A borrowed key cannot go into a closure.
    let deviceKey = try guarded { () throws(SecretMemoryError) in try deviceKey.clone() }
    let database = try StoreFile.open(in: directory) { (database) throws(KeychainError) in
      try Keybag.create(in: database, user: user, deviceKey: deviceKey)
      let keys = try Keybag.open(from: database, user: user, deviceKey: deviceKey)
      try BiometrySetStore.create(in: database, user: user, keys: keys)
      try LockoutStore.write(LockoutRecord(), in: database, user: user, key: keys.lockout)
    }
    try self.init(over: database, user: user, deviceKey: deviceKey, unlockState: unlockState, quota: quota, now: now)
  }

  /// The keychain in a database that is open already.
  init(
    over database: Database, user: UserID, deviceKey: borrowing SecretBytes, unlockState: UnlockState,
    quota: KeychainQuota, now: @escaping @Sendable () -> Int64
  ) throws(KeychainError) {
    keys = try Keybag.open(from: database, user: user, deviceKey: deviceKey)
    self.database = database
    self.user = user
    self.unlockState = unlockState
    self.quota = quota
    self.now = now
  }

  /// A second connection to the same keychain, which is as unlocked as that one.
  init(beside other: UserKeychain) throws(KeychainError) {
    user = other.user
    now = other.now
    unlockState = other.unlockState
    quota = other.quota
    database = try Database(path: other.database.path, mode: .existing)
    let root = try guarded { () throws(SecretMemoryError) in try other.keys.root.clone() }
    let pepper = try guarded { () throws(SecretMemoryError) in try other.keys.pepper.clone() }
    keys = try Keybag.under(root, pepper: pepper, from: database, user: user)
  }

  /// The system's clock, in seconds since 1970.
  public static let systemTime: @Sendable () -> Int64 = { Int64(time(nil)) }

  /// The lockout record. One that was altered or lost comes as a locked one with `isDamaged`, not as an error.
  /// - Throws: what reading the database can meet; the caller takes that for locked.
  public func lockout() throws(KeychainError) -> LockoutRecord {
    try LockoutStore.read(from: database, user: user, key: keys.lockout) ?? .failSafe
  }

  /// Stores the lockout record; on the disk when this returns.
  /// - Throws: `.invalidParameter` for numbers out of range; what a write can meet.
  public func setLockout(_ record: LockoutRecord) throws(KeychainError) {
    try database.write { () throws(KeychainError) in
      try LockoutStore.write(record, in: database, user: user, key: keys.lockout)
    }
  }
}
