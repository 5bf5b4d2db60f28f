public import SecretMemory

/// Why the keychain did not do as asked. Where a change is refused, what was stored before is as it was.
public enum KeychainError: Error, Equatable, Sendable, CustomStringConvertible {
  /// There already is an item with the same of what tells items of its class apart.
  case duplicateItem
  /// There is no such item.
  case itemNotFound
  /// The item lost its secret at that time (seconds since 1970), because the enrolled fingers changed.
  case invalidated(at: Int64)
  /// The item lost its secret at that time (seconds since 1970), because the account's password was removed.
  case passcodeRemoved(at: Int64)
  /// The key of that protection class is not there: the passcode was not given yet, or the sessions are locked.
  case locked(ProtectionClass)
  /// The item has a password of a program's own, which was not given.
  case applicationPasswordNeeded
  /// The password that the program gave is not the item's.
  case wrongApplicationPassword
  /// What is stored was altered, or belongs to another user or machine; `what` names it.
  case tampered(_ what: String)
  /// The database is no keychain, or damaged as a file; it is left as it is.
  case corrupt(_ what: String)
  /// The database was written by a later version of Whorl; it is left as it is.
  case tooNew(path: String, found: Int, known: Int)
  /// A class, constraint or stored kind that this version does not know; `what` names it.
  case unsupported(_ what: String)
  /// An argument that can never be right; the text says which and why.
  case invalidParameter(_ why: String)
  /// `what` has more bytes than `limit`.
  case tooLarge(_ what: String, limit: Int)
  /// The user's keychain holds as much as one may; says how much.
  case overQuota(_ limit: String)
  /// A file or folder is not as the keychain made it (a symbolic link, another owner, open to others).
  case refusedFile(_ why: String)
  /// The file system is read-only.
  case readOnly(_ path: String)
  /// The disk is full.
  case diskFull(_ path: String)
  /// Another process kept the database locked.
  case busy(_ path: String)
  /// Reading or writing failed.
  case io(_ what: String)
  /// The keychain belongs to an account that had this uid before; an empty name stands for an account without one.
  case otherOwner(user: UserID, owner: String, now: String)
  /// Whose the keychain is cannot be checked now; says why, in one line for people.
  case ownerUnknown(_ why: String)
  /// The device key is refused, or lost; the text says why and what to do.
  case deviceKey(_ why: String)
  /// The device key cannot be had now, which says nothing of whether it is lost; the text says why and what to do.
  case deviceKeyUnavailable(_ why: String)
  /// No protected memory for a secret.
  case memory(SecretMemoryError)

  /// One line for people: what happened, to which thing, what to do next.
  public var description: String {
    switch self {
    case .duplicateItem:
      "an item with this service, account and access group already exists; update it, or delete it first"
    case .itemNotFound:
      "no such item; list the items to see what there is"
    case .invalidated:
      "the item's secret is gone because the enrolled fingers changed; store it again"
    case .passcodeRemoved:
      "the item's secret is gone because the account's password was removed; store it again"
    case .locked(let protection):
      protection.endsAtSessionLock
        ? "items of protection \(protection.name) are locked until you unlock your session; or: whorl unlock"
        : "items of protection \(protection.name) are locked until you give your login password once; with: whorl unlock"
    case .applicationPasswordNeeded:
      "the item has a password of its program's; give that password to the context first"
    case .wrongApplicationPassword:
      "the program's password is not the one that the item was stored with; give the right one"
    case .tampered(let what):
      "\(what) was altered or is not of this user and machine; restore it from a backup, or delete and store it again"
    case .corrupt(let what):
      "\(what) is damaged and was left as it is; restore it from a backup, or move it away to start afresh"
    case .tooNew(let path, let found, let known):
      "\(path) has format \(found), this version of Whorl knows \(known); update Whorl (the file was left as it is)"
    case .unsupported(let what):
      "this version of Whorl does not support \(what); choose another or update Whorl"
    case .invalidParameter(let why):
      "\(why); correct the request"
    case .tooLarge(let what, let limit):
      "\(what) is larger than the \(limit) bytes allowed; shorten it"
    case .overQuota(let limit):
      "your keychain holds as much as one may (\(limit)); delete what you do not need any more"
    case .refusedFile(let why):
      "\(why); put it right, or move it away to start afresh"
    case .readOnly(let path):
      "\(path) cannot be written because its file system or file is read-only; make it writable"
    case .diskFull(let path):
      "the disk is full, \(path) was left as it was; free some space and try again"
    case .busy(let path):
      "\(path) is in use by another process; try again"
    case .io(let what):
      "\(what); check the disk and try again"
    case .otherOwner(let user, let owner, let now):
      Self.text(user, owner: owner, now: now)
    case .ownerUnknown(let why):
      why
    case .deviceKey(let why), .deviceKeyUnavailable(let why):
      why
    case .memory(let error):
      error.description
    }
  }

  private static func text(_ user: UserID, owner: String, now: String) -> String {
    guard !owner.isEmpty else {
      return "what is stored for uid \(user) is of an account without a name that had this uid before; "
        + "an administrator removes it with: whorl forget --uid \(user)"
    }
    let rename =
      now.isEmpty ? "" : ", or keeps it after a renaming with: whorl rename-user \(printable(owner)) \(printable(now))"
    return "what is stored for uid \(user) is of the account \(printable(owner)), which had this uid before; "
      + "an administrator removes it with: whorl forget \(printable(owner))\(rename)"
  }
}

/// `text` for a one-line message: at most 64 characters, control characters and line ends replaced, in quotes.
func printable(_ text: String) -> String {
  let shown = text.unicodeScalars.prefix(64).map { scalar in
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: "?"
    default: String(scalar)
    }
  }
  return "\"\(shown.joined())\(text.unicodeScalars.count > 64 ? "..." : "")\""
}
