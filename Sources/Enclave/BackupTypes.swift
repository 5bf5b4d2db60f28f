public import Keychain

/// What an export holds, and what it leaves out and why.
public struct ExportSummary: Sendable, Equatable {
  /// Items in the file.
  public var exported = 0
  /// Items that are to stay on this device.
  public var thisDeviceOnly = 0
  /// Items under a password of their program's, which the enclave does not know.
  public var applicationPassword = 0
  /// Private keys, which never leave.
  public var privateKeys = 0
  /// Items that lost their secret.
  public var gone = 0
  /// Items that cannot be read.
  public var unreadable = 0
}

/// What an import does with an item that is there already.
public enum ExistingItems: String, Sendable, CaseIterable {
  /// Fails, and changes nothing.
  case refuse
  /// Leaves it as it is.
  case skip
  /// Puts the file's in its place.
  case replace
}

/// How an import is done.
public struct ImportPlan: Sendable {
  /// What becomes of items that are there already.
  public let existing: ExistingItems
  /// What guards items of which the file does not say it.
  public let accessControl: AccessControl

  /// A plan of these.
  public init(existing: ExistingItems, accessControl: AccessControl) {
    self.existing = existing
    self.accessControl = accessControl
  }
}

/// What an import did.
public struct ImportSummary: Sendable, Equatable {
  /// Items that are new.
  public var added = 0
  /// Items that were there and stayed.
  public var skipped = 0
  /// Items that took the place of one that was there.
  public var replaced = 0
}

/// What several items ask for together: each thing once.
struct BackupNeeds {
  var passcode = false
  var biometry = false
  /// Either; counts where neither of the others is wanted.
  var presence = false
  /// The classes whose keys are wanted.
  var protections: Set<ProtectionClass> = []

  /// Adds what an item asks for.
  mutating func include(_ need: AuthenticationContext.Need?) {
    switch need {
    case .presence: presence = true
    case .biometry: biometry = true
    case .passcode: passcode = true
    case .both: (biometry, passcode) = (true, true)
    case nil: break
    }
  }

  /// Whether what was shown for `self` is enough for that item.
  func covers(_ need: AuthenticationContext.Need?) -> Bool {
    switch need {
    case .presence: passcode || biometry || presence
    case .biometry: biometry
    case .passcode: passcode
    case .both: biometry && passcode
    case nil: true
    }
  }
}
