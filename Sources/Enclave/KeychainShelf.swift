internal import Glibc
internal import Keychain
internal import SecretMemory

/// The open keychains, at most `capacity` of them, and the device key they need. The enclave's own: not Sendable.
final class KeychainShelf {
  static let capacity = 16
  /// After the device key could not be had, nobody asks for it again for so long: each try is a child process, and any
  /// user could cause one per call.
  static let retryMilliseconds: Int64 = 3000

  private let users: String
  private let keys: any DeviceKeySource
  private let clock: any EnclaveClock
  private var deviceKey: SecretBytes?
  private var failure: (error: KeychainError, at: Int64, pause: Int64)?
  /// The most recently used last.
  private var open: [(user: UserID, keychain: UserKeychain)] = []
  /// What the name service last said of each uid. Bounded: uids are of callers that the bus has checked.
  private var names: [UserID: AccountName]
  /// The owners of the keychains that are open.
  private var owners: [UserID: String] = [:]
  /// Users whose keychain stays open: one that is opened anew would wait for the change under way.
  private var pinned: Set<UserID> = []
  private static let mostNames = 4096
  /// What is unlocked, by user: outlives the keychains, which are closed when they are too many.
  private var unlockStates: [UserID: UnlockState] = [:]

  /// The keychains under `stateDirectory`/users.
  init(
    stateDirectory: String, keys: any DeviceKeySource, clock: any EnclaveClock, names: [UserID: AccountName] = [:]
  ) {
    users = stateDirectory + "/users"
    self.names = names
    self.keys = keys
    self.clock = clock
  }

  var openCount: Int { open.count }

  /// Where the keychains are.
  var folder: String { users }

  /// Whether a user's keychain stays open while others' come and go.
  func pin(_ user: UserID, _ isPinned: Bool) {
    if isPinned { pinned.insert(user) } else { pinned.remove(user) }
  }

  /// Users with unlocked keys.
  var unlockedUsers: [UserID] { unlockStates.filter { $0.value.isUnlocked }.map(\.key) }

  /// What is unlocked of a user's.
  func unlockState(of user: UserID) -> UnlockState {
    if let state = unlockStates[user] { return state }
    // Those that are locked say nothing; a uid may be anybody's.
    if unlockStates.count >= Self.mostNames { unlockStates = unlockStates.filter { $0.value.isUnlocked } }
    let state = UnlockState()
    unlockStates[user] = state
    return state
  }

  /// The keychain of that user, opened now where it was not, and only where it is of the account that has the uid now.
  func keychain(of user: UserID) throws(KeychainError) -> UserKeychain {
    let now: String
    switch names[user] {
    case .named(let name): now = name
    case .nameless: now = ""
    case .unknown(let why): throw .ownerUnknown(why)
    case nil: throw .ownerUnknown("whose uid \(user) is was not looked up; this is a fault of Whorl, please report it")
    }
    let keychain = try anyKeychain(of: user)
    if owners[user] == nil {
      let recorded = try keychain.owner()
      if recorded == nil {
        // One that is new, or of an early version. Where that cannot be written (a full disk), it is tried again later.
        try? keychain.setOwner(now)
      }
      owners[user] = recorded ?? now
    }
    // By bytes: accents can be composed differently in two names that Swift takes for one.
    guard let owner = owners[user], owner.utf8.elementsEqual(now.utf8) else {
      throw .otherOwner(user: user, owner: owners[user] ?? "", now: now)
    }
    return keychain
  }

  /// What the name service says of a uid from now on.
  func learn(_ user: UserID, _ name: AccountName) {
    if names.count >= Self.mostNames, names[user] == nil { names = names.filter { entry in owners[entry.key] != nil } }
    names[user] = name
  }

  /// Nothing of a uid's opens until its name is learned again.
  func unlearn(_ user: UserID) { names[user] = nil }

  /// The uids that have a keychain, in no order.
  func usersWithKeychain() throws(KeychainError) -> [UserID] {
    guard let folder = opendir(users) else {
      if errno == ENOENT { return [] }
      throw .io("the folder \(users) could not be read (error \(errno))")
    }
    defer { closedir(folder) }
    var found: [UserID] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
        String(validating: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, let uid = UInt32(name), String(uid) == name { found.append(UserID(uid)) }
    }
    return found
  }

  /// The keychain of a uid, whoever owns it; nil where there is none. Not kept open where it was not.
  func existingKeychain(of user: UserID) throws(KeychainError) -> UserKeychain? {
    if let found = open.first(where: { $0.user == user }) { return found.keychain }
    guard access("\(users)/\(user)/keychain.db", F_OK) == 0 else { return nil }
    try loadDeviceKey()
    let clock = clock
    return try Self.open(
      directory: "\(users)/\(user)", user: user, key: deviceKey, state: unlockState(of: user)
    ) { clock.wallTime() }
  }

  /// Removes the keychain of a uid for good, whoever owns it; false where there was none. `StoreWork.wipe` is to follow.
  func remove(_ user: UserID) throws(KeychainError) -> Bool {
    close(user)
    unlockStates[user] = nil
    return try KeychainRemoval.remove(directory: "\(users)/\(user)")
  }

  private func anyKeychain(of user: UserID) throws(KeychainError) -> UserKeychain {
    if let index = open.firstIndex(where: { $0.user == user }) {
      let found = open.remove(at: index)
      open.append(found)
      return found.keychain
    }
    try loadDeviceKey()
    try makeUsersFolder()
    let clock = clock
    let opened = try Self.open(
      directory: "\(users)/\(user.rawValue)", user: user, key: deviceKey, state: unlockState(of: user)
    ) { clock.wallTime() }
    if open.count >= Self.capacity, let oldest = open.firstIndex(where: { !pinned.contains($0.user) }) {
      owners[open.remove(at: oldest).user] = nil
    }
    open.append((user, opened))
    return opened
  }

  /// Lets go of a keychain, so that it is opened afresh: after an error that a new connection may not have.
  func close(_ user: UserID) {
    open.removeAll { $0.user == user }
    owners[user] = nil
  }

  /// What the device key is sealed to, having tried to load it.
  func sealing() throws(KeychainError) -> DeviceKeySealing? {
    try loadDeviceKey()
    return try keys.sealing()
  }

  private static func open(
    directory: String, user: UserID, key: borrowing SecretBytes?, state: UnlockState,
    now: @escaping @Sendable () -> Int64
  ) throws(KeychainError) -> UserKeychain {
    switch key {
    case .some(let key):
      try UserKeychain(directory: directory, user: user, deviceKey: key, unlockState: state, now: now)
    case .none: throw .deviceKey("the device key was not loaded; this is a fault of Whorl, please report it")
    }
  }

  private func loadDeviceKey() throws(KeychainError) {
    if deviceKey != nil { return }
    if let failure {
      // A TPM that refuses a key refuses it again, and locks itself up over it: it is asked once. One that did not answer
      // may do later.
      var isLasting = false
      if case .deviceKey = failure.error { isLasting = (try? keys.sealing()) == .hostAndTPM2 }
      if isLasting || clock.uptime() - failure.at < failure.pause { throw failure.error }
    }
    let begin = clock.uptime()
    do {
      // With keychains there and no key, a new key would only hide that the old one is lost.
      deviceKey = try keys.load(create: !hasUsers())
      failure = nil
    } catch {
      // Everybody waits for the try: it takes a small part of the time, however long it takes.
      let end = clock.uptime()
      failure = (error, end, max(Self.retryMilliseconds, 4 * (end - begin)))
      throw error
    }
  }

  /// Where a user's keychain is, whether there is one or not.
  func directory(of user: UserID) -> String { "\(users)/\(user)" }

  /// What can open a user's keychain without its device key; nil where nothing has to.
  func waysBack(of user: UserID) throws(KeychainError) -> UserKeychain.WaysBack? {
    do {
      _ = try anyKeychain(of: user)
      return nil
    } catch {
      switch error {
      case .deviceKey, .tampered: return try UserKeychain.waysBack(inDirectory: directory(of: user))
      default: throw error
      }
    }
  }

  /// Puts a keychain that was opened without its device key under the one there is, or under a new one where that cannot
  /// be had.
  func adopt(_ rescued: consuming UserKeychain.Rescued, of user: UserID) throws(KeychainError) {
    // For the account that it was made for alone, as `keychain(of:)` has it.
    guard case .named(let name)? = names[user] else {
      throw .ownerUnknown("whose uid \(user) is cannot be found out now; try again")
    }
    if let owner = rescued.owner, !owner.utf8.elementsEqual(name.utf8) {
      throw .otherOwner(user: user, owner: owner, now: name)
    }
    close(user)
    if deviceKey == nil {
      // What failed before may have been for a moment: the one key is replaced only where it is refused now.
      failure = nil
      do throws(KeychainError) { try loadDeviceKey() } catch {
        guard case .deviceKey = error else { throw error }
        deviceKey = .some(try keys.replace())
        failure = nil
      }
    }
    switch deviceKey {
    case .some(let key): try rescued.adopt(key, unlockState(of: user))
    case .none: throw .deviceKey("the device key was not loaded; this is a fault of Whorl, please report it")
    }
  }

  /// Begins with new keys for a keychain.
  func rekey(_ user: UserID, passcode: StretchedPassword) throws(KeychainError) -> KeychainRekey {
    let keychain = try keychain(of: user)
    switch deviceKey {
    case .some(let key): return try KeychainRekey(of: keychain, deviceKey: key, passcode: passcode)
    case .none: throw .deviceKey("the device key was not loaded; this is a fault of Whorl, please report it")
    }
  }

  private func hasUsers() -> Bool {
    guard let folder = opendir(users) else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let isHidden = entry.pointee.d_name.0 == CChar(UInt8(ascii: "."))
      if !isHidden { return true }
    }
    return false
  }

  private func makeUsersFolder() throws(KeychainError) {
    guard mkdir(users, 0o700) == 0 || errno == EEXIST else {
      let code = errno
      throw .io("the folder \(users) could not be made (error \(code))")
    }
  }
}
