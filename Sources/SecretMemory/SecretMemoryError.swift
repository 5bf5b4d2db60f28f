/// Why a secret could not be held, handed over or accepted. Never carries any byte of the secret.
public enum SecretMemoryError: Error, Equatable, Sendable, CustomStringConvertible {
  /// libsodium could not be started; nothing that needs it can run.
  case initialisationFailed
  /// No guarded memory of that many bytes could be had.
  case outOfMemory(bytes: Int)
  /// The secret has more bytes than the limit allows.
  case tooLarge(limit: Int)
  /// The descriptor is not an anonymous memory file (memfd).
  case notMemoryFile
  /// The memory file is not sealed against growing and shrinking.
  case notSealed
  /// The memory file is sealed against writing, so that it could not be wiped.
  case writeSealed
  /// The descriptor is not open for reading and writing (an O_PATH or a read-only one, say).
  case notReadWrite
  /// The descriptor is not open at all.
  case notOpen
  /// A system call failed.
  case system(call: String, code: Int32)

  /// One line for people: what happened and what to do next.
  public var description: String {
    switch self {
    case .initialisationFailed:
      "libsodium could not be started; check that the system can give random numbers"
    case .outOfMemory(let bytes):
      "no protected memory for a secret of \(bytes) bytes; raise the limit on locked memory (ulimit -l) or free some"
    case .tooLarge(let limit):
      "the secret is larger than the \(limit) bytes allowed; store a shorter one"
    case .notMemoryFile:
      "the descriptor for the secret is not a memory file; pass one made with memfd_create"
    case .notSealed:
      "the memory file with the secret is not sealed; add F_SEAL_GROW and F_SEAL_SHRINK before passing it"
    case .writeSealed:
      "the memory file with the secret is sealed against writing and cannot be wiped; leave out F_SEAL_WRITE"
    case .notReadWrite:
      "the descriptor for the secret is not open for reading and writing; pass the one memfd_create gave"
    case .notOpen:
      "the descriptor for the secret is not open; pass an open memory file"
    case .system(let call, let code):
      "\(call) failed on a secret with error \(code); try again"
    }
  }
}
