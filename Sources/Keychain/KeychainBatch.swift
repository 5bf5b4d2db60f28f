/// A long change to one keychain in one transaction, on a connection of its own and in parts: whoever owns the keychain
/// reads it meanwhile as it was, and is refused with `.busy`, at once, where it would change it.
///
/// Let go without `commit`, it leaves everything as it was.
final class KeychainBatch {
  private let owner: UserKeychain
  /// The keychain as it stands in the transaction.
  let keychain: UserKeychain
  private var isOpen = true

  /// Begins the transaction.
  /// - Throws: `.busy` where another one is under way; what opening and writing can meet.
  init(on owner: UserKeychain) throws(KeychainError) {
    self.owner = owner
    keychain = try UserKeychain(beside: owner)
    keychain.database.setPatience(false)
    // What is committed is moved into the file by who can wait for that (`StoreUpkeep.checkpoint`).
    try keychain.database.execute("PRAGMA wal_autocheckpoint = 0")
    try keychain.database.execute("BEGIN IMMEDIATE")
    owner.database.setPatience(false)
  }

  deinit { end() }

  /// All of it is on the disk when this returns; nothing of it where this throws.
  func commit() throws(KeychainError) {
    guard isOpen else { return }
    try keychain.database.execute("COMMIT")
    end()
  }

  private func end() {
    guard isOpen else { return }
    isOpen = false
    keychain.database.rollBackIfOpen()
    owner.database.setPatience(true)
    // Closing would move it into the file as well where nobody else has it open.
    keychain.database.setCheckpointOnClose(false)
  }
}
