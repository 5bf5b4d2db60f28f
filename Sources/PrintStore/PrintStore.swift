internal import CPosix
internal import Glibc
public import ReaderLink

/// Enrolled prints on disk, in fprintd's own layout: `ROOT/USER/DRIVER/DEVICE-ID/FINGER`, FINGER one hexadecimal digit.
///
/// Folders are made with mode 0700 and files with 0600; a crash or power cut at any moment leaves the old print or the
/// new one, whole. Links are never followed, and what is no ordinary file is reported and left alone. Every call goes
/// to the disk and blocks for that long; calls may overlap, in one process or several.
public struct PrintStore: Sendable {
  /// The absolute path of the store's folder, such as `/var/lib/fprint`.
  public let root: String

  /// The store in that folder, which the first `save` makes (but not the folders above it).
  public init(root: String) { self.root = root }

  /// Names one print. Two of them are not compared: folders differ by bytes, but Swift's strings by characters.
  public struct Key: Sendable {
    /// The user's name. Not empty, at most 255 bytes, without slash and zero byte, not beginning with a dot.
    public var user: String
    /// libfprint's name of the driver. As `user`, but may begin with a dot.
    public var driver: String
    /// libfprint's identifier of the reader. As `driver`.
    public var deviceID: String
    /// The finger.
    public var finger: Finger

    /// A key of these parts; they are checked by the call that uses it.
    public init(user: String, driver: String, deviceID: String, finger: Finger) {
      self.user = user
      self.driver = driver
      self.deviceID = deviceID
      self.finger = finger
    }
  }

  /// Saves a print, in place of an older one of that finger. When it returns, the print is on the disk.
  ///
  /// - Parameter data: as libfprint serialised it (FP3), at most 1 MiB.
  /// - Throws: `PrintStoreError`; the older print is then still there.
  public func save(_ data: [UInt8], for key: Key) throws(PrintStoreError) {
    try Names.check(user: key.user, driver: key.driver, deviceID: key.deviceID)
    if let fault = PrintFormat.fault(data) { throw .notAPrint(reason: fault) }
    // Somebody else's deletion may remove the folder, empty for a moment, between two steps of this: then again.
    for _ in 0..<100 {
      guard let folder = try deviceFolder(key.user, key.driver, key.deviceID, create: true) else { continue }
      if try save(data, as: key.finger.fileName, in: folder) { return }
    }
    throw .system(operation: "keep a folder for", path: "\(root)/\(key.user)", code: EBUSY)
  }

  /// Reads a print; nil where there is none.
  ///
  /// - Throws: `PrintStoreError`: `damaged`, `outOfPlace` and `insecure` mean that something is there.
  public func load(_ key: Key) throws(PrintStoreError) -> [UInt8]? {
    guard let folder = try deviceFolder(key.user, key.driver, key.deviceID) else { return nil }
    return try load(key.finger, from: folder)
  }

  /// The fingers that have a file for this reader, damaged or not, from left thumb to right little finger.
  public func fingers(user: String, driver: String, deviceID: String) throws(PrintStoreError) -> [Finger] {
    guard let folder = try deviceFolder(user, driver, deviceID) else { return [] }
    var found: [Finger] = []
    for finger in Finger.allCases {
      if let status = try folder.status(finger.fileName), FileKind.isRegular(status) { found.append(finger) }
    }
    return found
  }

  /// The fingers under whose names there is anything for this reader, be it no print at all.
  public func entries(user: String, driver: String, deviceID: String) throws(PrintStoreError) -> [Finger] {
    guard let folder = try deviceFolder(user, driver, deviceID) else { return [] }
    var found: [Finger] = []
    for finger in Finger.allCases where try folder.status(finger.fileName) != nil { found.append(finger) }
    return found
  }

  /// Reads all prints of a user for this reader. A bad file costs only its own finger.
  ///
  /// - Returns: the prints that can be used, and the fingers whose files cannot, with the reason; both by finger.
  public func loadAll(
    user: String, driver: String, deviceID: String
  ) throws(PrintStoreError) -> (prints: [(Finger, [UInt8])], damaged: [(Finger, PrintStoreError)]) {
    var prints: [(Finger, [UInt8])] = []
    var damaged: [(Finger, PrintStoreError)] = []
    guard let folder = try deviceFolder(user, driver, deviceID) else { return (prints, damaged) }
    for finger in Finger.allCases {
      do {
        if let data = try load(finger, from: folder) { prints.append((finger, data)) }
      } catch {
        damaged.append((finger, error))
      }
    }
    return (prints, damaged)
  }

  /// Deletes a print, damaged or not, and the folders that are empty then; false where there was none.
  ///
  /// - Throws: `PrintStoreError`; what is no ordinary file is not deleted.
  public func delete(_ key: Key) throws(PrintStoreError) -> Bool {
    guard let folder = try deviceFolder(key.user, key.driver, key.deviceID) else { return false }
    guard try folder.regularStatus(key.finger.fileName) != nil, try folder.remove(key.finger.fileName) else {
      return false
    }
    try folder.sync()
    try tidy(folder, key.user, key.driver, key.deviceID)
    return true
  }

  /// Deletes all prints of a user for this reader, damaged or not, and the folders that are empty then.
  ///
  /// - Returns: the fingers whose prints are gone. What is no ordinary file stays and is not among them.
  /// - Throws: `PrintStoreError`; some of the prints may then be gone, which `fingers` tells.
  public func deleteAll(user: String, driver: String, deviceID: String) throws(PrintStoreError) -> [Finger] {
    guard let folder = try deviceFolder(user, driver, deviceID) else { return [] }
    var deleted: [Finger] = []
    for finger in Finger.allCases {
      guard let status = try folder.status(finger.fileName), FileKind.isRegular(status) else { continue }
      if try folder.remove(finger.fileName) { deleted.append(finger) }
    }
    if !deleted.isEmpty { try folder.sync() }
    try tidy(folder, user, driver, deviceID)
    return deleted
  }

  /// The names of the users who have a folder in the store, sorted. Names that begin with a dot are no users.
  public func users() throws(PrintStoreError) -> [String] {
    guard let folder = try Folder.root(root, create: false) else { return [] }
    var users: [String] = []
    for name in try folder.names() where name.utf8.first != UInt8(ascii: ".") {
      if let status = try folder.status(name), FileKind.isFolder(status) { users.append(name) }
    }
    return users.sorted()
  }

  /// The readers for which a user has a folder, whether or not they are there.
  public func readers(user: String) throws(PrintStoreError) -> [(driver: String, deviceID: String)] {
    try Names.check(user: user)
    guard let top = try Folder.root(root, create: false), let folder = try top.folder(user, create: false)
    else { return [] }
    var readers: [(driver: String, deviceID: String)] = []
    for driver in try folder.names().sorted() {
      guard let status = try folder.status(driver), FileKind.isFolder(status),
        let devices = try folder.folder(driver, create: false)
      else { continue }
      for device in try devices.names().sorted() {
        if let status = try devices.status(device), FileKind.isFolder(status) { readers.append((driver, device)) }
      }
    }
    return readers
  }

  /// Whether a user has a print for any reader, damaged or not.
  public func hasPrints(user: String) throws(PrintStoreError) -> Bool {
    for reader in try readers(user: user) {
      if try !fingers(user: user, driver: reader.driver, deviceID: reader.deviceID).isEmpty { return true }
    }
    return false
  }

  /// Whether all of a user's prints could be deleted, as far as that shows without deleting any.
  ///
  /// - Throws: `PrintStoreError`, naming what is in the way.
  public func checkDeletion(user: String) throws(PrintStoreError) {
    for reader in try readers(user: user) {
      try deviceFolder(user, reader.driver, reader.deviceID)?.requireWritable()
    }
  }

  /// Gives the folder of a user's prints another name, in one step; false where there is none.
  ///
  /// - Throws: `PrintStoreError`, also where the new name has a folder that is not empty.
  public func rename(user: String, to new: String) throws(PrintStoreError) -> Bool {
    try Names.check(user: user)
    try Names.check(user: new)
    guard let top = try Folder.root(root, create: false), try top.folder(user, create: false) != nil else {
      return false
    }
    guard try top.rename(user, to: new) else { return false }
    try top.sync()
    return true
  }

  /// Whether there is anything in the store's folder that should be a user's folder and is none.
  public func hasStrays() throws(PrintStoreError) -> Bool {
    guard let folder = try Folder.root(root, create: false) else { return false }
    for name in try folder.names() where name.utf8.first != UInt8(ascii: ".") {
      if let status = try folder.status(name), !FileKind.isFolder(status) { return true }
    }
    return false
  }

  // MARK: - One folder

  /// False where the folder or the half-written file was removed meanwhile.
  private func save(_ data: [UInt8], as name: String, in folder: borrowing Folder) throws(PrintStoreError) -> Bool {
    // A print that is renamed over a pipe or link would destroy what somebody put there.
    _ = try folder.regularStatus(name)
    let new = Leftovers.newName()
    guard let file = try folder.create(new) else { return false }
    guard Leftovers.take(file) else { return false }
    do {
      try file.write(data)
      try file.sync()
      guard try folder.rename(new, to: name) else { return false }
    } catch {
      _ = try? folder.remove(new)
      throw error
    }
    try folder.sync()
    Leftovers.remove(from: folder)
    return true
  }

  private func load(_ finger: Finger, from folder: borrowing Folder) throws(PrintStoreError) -> [UInt8]? {
    guard let file = try folder.read(finger.fileName) else { return nil }
    let status = try file.status()
    if let fault = FileKind.fault(status) { throw .insecure(path: file.path, reason: fault) }
    // Not even begun to read where it is too large.
    if status.st_size > PrintFormat.limit { throw .damaged(path: file.path, reason: PrintFormat.tooLarge) }
    let data = try file.read(limit: PrintFormat.limit)
    if let fault = PrintFormat.fault(data) { throw .damaged(path: file.path, reason: fault) }
    return data
  }

  // MARK: - From the root down

  /// The folder of one user's prints for one reader; nil where a part of the way is missing.
  private func deviceFolder(
    _ user: String, _ driver: String, _ deviceID: String, create: Bool = false
  ) throws(PrintStoreError) -> Folder? {
    try Names.check(user: user, driver: driver, deviceID: deviceID)
    guard let top = try Folder.root(root, create: create), let users = try top.folder(user, create: create),
      let drivers = try users.folder(driver, create: create)
    else { return nil }
    return try drivers.folder(deviceID, create: create)
  }

  /// Removes leftovers, and the empty folders from the reader's up to the user's, as fprintd does.
  private func tidy(
    _ folder: borrowing Folder, _ user: String, _ driver: String, _ deviceID: String
  ) throws(PrintStoreError) {
    Leftovers.remove(from: folder)
    guard let top = try Folder.root(root, create: false), let users = try top.folder(user, create: false),
      let drivers = try users.folder(driver, create: false)
    else { return }
    guard try drivers.removeIfEmpty(deviceID) else { return }
    try drivers.sync()
    guard try users.removeIfEmpty(driver) else { return }
    try users.sync()
    guard try top.removeIfEmpty(user) else { return }
    try top.sync()
  }
}
