public import SecretMemory

/// Why an export file could not be written or read. Never carries anything of what is in it.
public enum ArchiveError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file does not begin as an export file does.
  case notAnExportFile
  /// A later version of Whorl wrote the file; `what` names what this one does not know.
  case tooNew(_ what: String)
  /// What the file asks for before its passphrase can be looked at is out of bounds; `what` names it.
  case refusedCost(_ what: String)
  /// The passphrase is another one. (Where the file's first 92 bytes were altered, this is what it looks like too.)
  case wrongPassphrase
  /// The file ends before its end mark.
  case truncated
  /// A part of the file was altered, moved, or comes from another file, or something follows its end mark.
  case altered
  /// `what` has more bytes than `limit`.
  case tooLarge(_ what: String, limit: Int)
  /// A passphrase has to have 1 to so many bytes.
  case badPassphrase(limit: Int)
  /// Reading or writing failed.
  case io(call: String, code: Int32)
  /// No protected memory.
  case memory(SecretMemoryError)

  /// One line for people: what happened and what to do next.
  public var description: String {
    switch self {
    case .notAnExportFile:
      "this is no export file of Whorl's; give one that whorl export wrote"
    case .tooNew(let what):
      "the export file has \(what), which this version of Whorl does not know; update Whorl"
    case .refusedCost(let what):
      "the export file asks for \(what), which is refused; it was altered, or is not Whorl's"
    case .wrongPassphrase:
      "the passphrase is not the export file's; try again"
    case .truncated:
      "the export file ends too early; copy it again, or use another backup"
    case .altered:
      "the export file is damaged or was altered; copy it again, or use another backup"
    case .tooLarge(let what, let limit):
      "\(what) is larger than the \(limit) bytes allowed; leave something out"
    case .badPassphrase(let limit):
      "a passphrase has 1 to \(limit) bytes; choose another"
    case .io(let call, let code):
      "\(call) failed on the export file with error \(code); try again"
    case .memory(let error):
      error.description
    }
  }
}

/// Runs `body`, its errors as the archive's.
func guarded<R: ~Copyable>(_ body: () throws(SecretMemoryError) -> R) throws(ArchiveError) -> R {
  do throws(SecretMemoryError) { return try body() } catch { throw .memory(error) }
}
