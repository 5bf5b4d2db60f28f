public import Keychain

extension Enclave {
  /// Whether biometry is locked for that user: five misses in a row, or a record that cannot be read or kept.
  public func isLockedOut(user: UserID) -> Bool {
    do {
      try requireUnlocked(user)
      return false
    } catch {
      return true
    }
  }

  /// Whether a finger of that user may be asked for at all: not locked out, and a miss could be recorded. For whoever
  /// verifies outside the enclave (`net.reactivated.Fprint`), before each touch.
  /// - Throws: `.biometryLockout`, `.keychain` where the store cannot be had or written.
  public func requireBiometry(of user: UserID) throws(EnclaveError) {
    try requireUnlocked(user)
    // Writes what is there already: a store that takes no writes must show before the touch, not after it.
    try withKeychain(of: user) { keychain throws(KeychainError) in try store(try keychain.lockout(), in: keychain) }
  }

  /// Counts a verification that happened outside the enclave (`net.reactivated.Fprint`): to be awaited before the
  /// verdict is told to anybody.
  /// - Parameters:
  ///   - print: the bytes of the print that matched; nil for a miss.
  ///   - place: where the reader stands; nil where that is not known.
  /// - Returns: whether the user is locked out now. A match must then be told as a failure: it came too late.
  /// - Throws: `.keychain` where a miss could not be recorded; the user counts as locked out from then on.
  @discardableResult
  public func recordExternalVerification(
    user: UserID, matched print: [UInt8]?, on place: ReaderPlace?
  ) throws(EnclaveError) -> Bool {
    guard let print else {
      do {
        guard try recordMiss(of: user) == 0 else { return false }
      } catch {
        lockOut(user)
        throw error
      }
      lockOut(user)
      return true
    }
    guard !isLockedOut(user: user) else { return true }
    recordMatch(of: user, with: print, on: place)
    return false
  }

  func requireUnlocked(_ user: UserID) throws(EnclaveError) {
    guard !unrecorded.contains(user) else { throw .biometryLockout }
    let record = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.lockout() }
    guard record.misses < LockoutPolicy.allowedMisses else { throw .biometryLockout }
  }

  /// Records a miss, or several at once, on the disk when this returns. Whoever calls it locks the user out once none
  /// is left.
  /// - Returns: how many misses are left.
  /// - Throws: where it could not be recorded; the user counts as locked out then.
  func recordMiss(of user: UserID, count: Int = 1) throws(EnclaveError) -> Int {
    do {
      let left = try withKeychain(of: user) { keychain throws(KeychainError) in
        var record = try keychain.lockout()
        record.misses = min(record.misses + count, 255)
        try store(record, in: keychain)
        return max(0, LockoutPolicy.allowedMisses - record.misses)
      }
      return unrecorded.contains(user) ? 0 : left
    } catch {
      unrecorded.insert(user)
      throw error
    }
  }

  /// A match ends the row of misses. Where that cannot be recorded the count stays, which is the safe side.
  ///
  /// Where some prints may open secrets, only a match of one of those on a trusted reader does: otherwise whoever adds a
  /// print file to the disk, or plugs in a reader that says yes to everything, could clear, by logins, the count that
  /// guards the secrets.
  func recordMatch(of user: UserID, with print: [UInt8], on place: ReaderPlace?) {
    try? withKeychain(of: user) { keychain throws(KeychainError) in
      if try !keychain.biometrySet().isEmpty {
        guard try keychain.isRegistered(print: print) != nil else { return }
        let trusted = try keychain.trustedReaders()
        if trusted.contains(where: { $0.place == place }) {
          sawOwner(user)
        } else if !trusted.isEmpty {
          return
        }
      }
      var record = try keychain.lockout()
      guard record.misses > 0 else { return }
      record.misses = 0
      try store(record, in: keychain)
    }
  }

  /// Ends all that waits for a finger of that user, and what earlier touches still cover.
  func lockOut(_ user: UserID) {
    forgetTouches(of: user)
    endOperations(.biometryLockout) { $0.user == user }
  }
}
