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
  private var failure: (error: KeychainError, at: Int64)?
  /// The most recently used last.
  private var open: [(user: UserID, keychain: UserKeychain)] = []

  /// The keychains under `stateDirectory`/users.
  init(stateDirectory: String, keys: any DeviceKeySource, clock: any EnclaveClock) {
    users = stateDirectory + "/users"
    self.keys = keys
    self.clock = clock
  }

  var openCount: Int { open.count }

  /// The keychain of that user, opened now where it was not.
  func keychain(of user: UserID) throws(KeychainError) -> UserKeychain {
    if let index = open.firstIndex(where: { $0.user == user }) {
      let found = open.remove(at: index)
      open.append(found)
      return found.keychain
    }
    try loadDeviceKey()
    try makeUsersFolder()
    let clock = clock
    let opened = try Self.open(directory: "\(users)/\(user.rawValue)", user: user, key: deviceKey) { clock.wallTime() }
    if open.count >= Self.capacity { open.removeFirst() }
    open.append((user, opened))
    return opened
  }

  /// Lets go of a keychain, so that it is opened afresh: after an error that a new connection may not have.
  func close(_ user: UserID) { open.removeAll { $0.user == user } }

  /// What the device key is sealed to, having tried to load it.
  func sealing() throws(KeychainError) -> DeviceKeySealing? {
    try loadDeviceKey()
    return try keys.sealing()
  }

  private static func open(
    directory: String, user: UserID, key: borrowing SecretBytes?, now: @escaping @Sendable () -> Int64
  ) throws(KeychainError) -> UserKeychain {
    switch key {
    case .some(let key): try UserKeychain(directory: directory, user: user, deviceKey: key, now: now)
    case .none: throw .deviceKey("the device key was not loaded; this is a fault of Whorl, please report it")
    }
  }

  private func loadDeviceKey() throws(KeychainError) {
    if deviceKey != nil { return }
    if let failure, clock.uptime() - failure.at < Self.retryMilliseconds { throw failure.error }
    do {
      // With keychains there and no key, a new key would only hide that the old one is lost.
      deviceKey = try keys.load(create: !hasUsers())
      failure = nil
    } catch {
      failure = (error, clock.uptime())
      throw error
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
