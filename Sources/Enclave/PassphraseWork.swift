internal import KeychainArchive
internal import SecretMemory

/// Does the work of export files' passphrases, one at a time, so that the enclave, and logins, are there for others meanwhile
/// and the memory that it takes is bounded.
actor PassphraseWork {
  func key(
    _ passphrase: HeldSecret, _ body: @Sendable (borrowing SecretBytes) throws(ArchiveError) -> ArchiveKey
  ) throws(ArchiveError) -> ArchiveKey {
    // Whoever has gone while others' were looked at wants nothing any more.
    guard !Task.isCancelled else { throw .wrongPassphrase }
    return try passphrase.with { secret throws(ArchiveError) in try body(secret) }
  }
}
