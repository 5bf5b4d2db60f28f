internal import Glibc

/// For which uid each user's folder of prints was enrolled: fprintd's layout has only the name, and an account of the
/// same name may be another person's.
///
/// One small file per name, with the uid in decimal digits, in a folder of Whorl's own beside the store. A crash leaves
/// the old record or the new one. Every call goes to the disk.
public struct PrintOwners: Sendable {
  /// The absolute path of the folder, which the first `record` makes.
  public let root: String

  /// The records in that folder.
  public init(root: String) { self.root = root }

  /// The uid recorded for that name; nil where there is no record.
  /// - Throws: `PrintStoreError`, also for a record that makes no sense: whose the prints are is unknown then.
  public func uid(of name: String) throws(PrintStoreError) -> UInt32? {
    try Names.check(user: name)
    guard let folder = try Folder.root(root, create: false), let file = try folder.read(name) else { return nil }
    if let fault = FileKind.fault(try file.status()) { throw .insecure(path: file.path, reason: fault) }
    let text = String(decoding: try file.read(limit: 16), as: UTF8.self)
    guard text.hasSuffix("\n"), let uid = UInt32(text.dropLast()) else {
      throw .outOfPlace(path: file.path, found: "a damaged record", wanted: "a uid")
    }
    return uid
  }

  /// Records that the prints of that name are this uid's; on the disk when it returns.
  public func record(_ uid: UInt32, for name: String) throws(PrintStoreError) {
    try Names.check(user: name)
    guard let folder = try Folder.root(root, create: true) else {
      throw .system(operation: "make", path: root, code: ENOENT)
    }
    _ = try folder.regularStatus(name)
    let new = Leftovers.newName()
    guard let file = try folder.create(new), Leftovers.take(file) else {
      throw .system(operation: "write", path: "\(root)/\(name)", code: EBUSY)
    }
    do {
      try file.write(Array("\(uid)\n".utf8))
      try file.sync()
      _ = try folder.rename(new, to: name)
    } catch {
      _ = try? folder.remove(new)
      throw error
    }
    try folder.sync()
    Leftovers.remove(from: folder)
  }

  /// Forgets the record of that name, if there is one.
  public func forget(_ name: String) throws(PrintStoreError) {
    try Names.check(user: name)
    guard let folder = try Folder.root(root, create: false), try folder.remove(name) else { return }
    try folder.sync()
  }

  /// The names whose prints are that uid's, by the records, sorted. Records that cannot be read are left out.
  public func names(of uid: UInt32) throws(PrintStoreError) -> [String] {
    guard let folder = try Folder.root(root, create: false) else { return [] }
    return try folder.names().filter { $0.utf8.first != UInt8(ascii: ".") && (try? self.uid(of: $0)) == uid }.sorted()
  }
}
