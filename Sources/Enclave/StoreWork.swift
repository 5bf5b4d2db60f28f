internal import Keychain

/// What takes as long as a keychain's file is large and needs no keys: a place of its own, so that nobody waits for it but
/// who asked.
actor StoreWork {
  /// Moves what was committed into the file.
  func checkpoint(_ directory: String) { StoreUpkeep.checkpoint(directory: directory) }

  /// SQLite's look at the file: a line for each thing that is wrong.
  func integrity(_ directory: String) throws(KeychainError) -> [String] {
    try StoreUpkeep.integrity(directory: directory)
  }

  /// Overwrites and removes what was removed among the keychains in that folder.
  func wipe(_ users: String) { KeychainRemoval.removeLeftovers(in: users) }
}
