internal import Glibc

/// A file without a name on its way to or from the daemon; closed with its last reference.
public final class WhorlFile: Sendable {
  private let descriptor: Int32

  /// Owns the descriptor from now on.
  public init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Lends the descriptor.
  public func withDescriptor<R, E: Error>(_ body: (Int32) throws(E) -> R) throws(E) -> R { try body(descriptor) }
}

/// What an export gives.
public struct WhorlExport: Sendable {
  /// The export file, in memory.
  public var file: WhorlFile
  /// How many items are in it.
  public var exported = 0
  /// How many were left out since they are to stay on this device.
  public var thisDeviceOnly = 0
  /// How many were left out since they take a password of their program's, which Whorl does not know.
  public var applicationPassword = 0
  /// How many private keys were left out, which never leave the daemon.
  public var privateKeys = 0
  /// How many were left out since they lost their secret when the fingers changed.
  public var gone = 0
  /// How many could not be read and are not in the file.
  public var unreadable = 0

  /// An export into this file, of nothing so far.
  public init(file: WhorlFile) { self.file = file }
}

/// What an import does with an item that is there already.
public enum WhorlExisting: String, Hashable, Sendable {
  /// The whole import is refused: `.duplicateItem`.
  case refuse
  /// It stays as it is.
  case skip
  /// The file's takes its place, for which what it requires is asked for.
  case replace
}

/// What an import is to do.
public struct WhorlImportPlan: Hashable, Sendable {
  /// What becomes of items that are there already.
  public var existing: WhorlExisting
  /// What those items require of which the file does not say it.
  public var constraints: [WhorlConstraint] = []
  /// Their protection class; nil leaves it to the daemon.
  public var protection: WhorlProtection?

  /// A plan of this kind.
  public init(existing: WhorlExisting) { self.existing = existing }
}

/// What an import did.
public struct WhorlImported: Hashable, Sendable {
  /// How many items are new.
  public var added = 0
  /// How many were there and stayed.
  public var skipped = 0
  /// How many took the place of one that was there.
  public var replaced = 0

  /// Nothing.
  public init() {}
}
