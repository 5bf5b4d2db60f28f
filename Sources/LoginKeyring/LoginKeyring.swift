internal import Bus
public import GLibLoop
public import SecretMemory

/// The login keyring of gnome-keyring in one desktop session, over the session bus.
///
/// What was found out with gnome-keyring 42 (Debian 12), and is relied on here: a change of the password looks at the old
/// one, also where the keyring is open; an unlocking of an open keyring takes any password. So only a keyring that was
/// locked first proves a password. A keyring with an empty password is not encrypted; while it is locked it takes any old
/// password for its own.
@GLibActor
public final class LoginKeyring {
  /// How the keyring is.
  public enum State: String, Sendable, Hashable {
    /// There is none.
    case absent
    /// Locked.
    case locked
    /// Open: every program of the session can read it.
    case open
  }

  private static let service = "org.freedesktop.secrets"
  private static let root = "/org/freedesktop/secrets"
  private static let serviceInterface = "org.freedesktop.Secret.Service"
  private static let collectionInterface = "org.freedesktop.Secret.Collection"
  /// The only interface that takes a password from a program. Its name is what its makers think of that.
  private static let passwordInterface = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

  private let bus: BusConnection
  /// gnome-keyring's connection: whoever takes its name meanwhile gets nothing.
  private let daemon: String
  private var session: SecretSession?

  private init(bus: BusConnection, daemon: String) {
    self.bus = bus
    self.daemon = daemon
  }

  /// Finds the keyring of a session. Starts nothing.
  ///
  /// - Parameter address: the session bus, as DBUS_SESSION_BUS_ADDRESS names it.
  /// - Throws: `.noBus`, `.notRunning`.
  public static func find(address: String) async throws(LoginKeyringError) -> LoginKeyring {
    let bus: BusConnection
    do throws(BusError) { bus = try await BusConnection.open(address: address) } catch {
      throw .noBus(error.description)
    }
    let owner: String?
    do throws(BusError) { owner = try await bus.owner(of: service) } catch { throw .failed(error.description) }
    guard let owner else { throw .notRunning }
    return LoginKeyring(bus: bus, daemon: owner)
  }

  /// How the keyring is now.
  /// - Throws: `.otherService`, `.failed`.
  public func state() async throws(LoginKeyringError) -> State {
    guard let path = try await path() else { return .absent }
    let reply = try await call(
      path, "org.freedesktop.DBus.Properties", "Get", [.string(Self.collectionInterface), .string("Locked")], "v")
    guard case .boolean(let isLocked) = reply.first?.unwrapped else {
      throw .failed("it does not say whether the keyring is locked")
    }
    return isLocked ? .locked : .open
  }

  /// Locks the keyring; programs that use it ask for it again.
  /// - Throws: `.noKeyring`, `.failed`.
  public func lock() async throws(LoginKeyringError) {
    _ = try await call(
      Self.root, Self.serviceInterface, "Lock",
      [.array(element: "o", [.objectPath(try await existingPath())])], "aoo")
    guard try await state() == .locked else { throw .failed("the keyring stays open") }
  }

  /// Unlocks the keyring. One that is open takes any password: lock it first where it is to be proved.
  /// - Throws: `.denied`, `.noKeyring`, `.otherService`, `.failed`.
  public func unlock(with password: borrowing SecretBytes) async throws(LoginKeyringError) {
    let path = try await existingPath()
    let sealed = try await openSession().seal(password)
    _ = try await call(
      Self.root, Self.passwordInterface, "UnlockWithMasterPassword", [.objectPath(path), sealed], "")
    guard try await state() == .open else { throw .failed("the keyring stays locked") }
  }

  /// Gives the keyring another password; it is open or locked afterwards as it was before.
  /// - Throws: `.denied` where the old one is another, and nothing was changed; `.noKeyring`, `.otherService`, `.failed`.
  public func change(
    from old: borrowing SecretBytes, to new: borrowing SecretBytes
  ) async throws(LoginKeyringError) {
    // Anybody opens a keyring with an empty password; one that has one already may be asked about it.
    guard new.count > 0 || old.count == 0 else { throw .failed("an empty password guards nothing") }
    let path = try await existingPath()
    let session = try await openSession()
    let values = [BusValue.objectPath(path), try session.seal(old), try session.seal(new)]
    _ = try await call(Self.root, Self.passwordInterface, "ChangeWithMasterPassword", values, "")
  }

  /// Whether this is the keyring's password, without a change to it. Locks the keyring, and leaves it open where it is.
  /// - Throws: `.noKeyring`, `.otherService`, `.failed`.
  public func proves(_ password: borrowing SecretBytes) async throws(LoginKeyringError) -> Bool {
    try await lock()
    do throws(LoginKeyringError) { try await unlock(with: password) } catch .denied { return false }
    return true
  }

  // MARK: Parts

  private func openSession() async throws(LoginKeyringError) -> SecretSession {
    if let session { return session }
    let exchange = try KeyExchange.begin()
    let reply = try await call(
      Self.root, Self.serviceInterface, "OpenSession",
      [.string(KeyExchange.algorithm), .variant(.bytes(exchange.publicNumber))], "vo")
    guard let theirs = reply[0].unwrapped.asBytes, let path = reply[1].asObjectPath else {
      throw .failed("its key exchange is none")
    }
    let opened = try SecretSession(path: path, key: exchange.key(with: theirs))
    session = opened
    return opened
  }

  /// The login keyring's object; nil where there is none.
  private func path() async throws(LoginKeyringError) -> String? {
    let reply = try await call(Self.root, Self.serviceInterface, "ReadAlias", [.string("login")], "o")
    guard let path = reply.first?.asObjectPath, path != "/" else { return nil }
    return path
  }

  private func existingPath() async throws(LoginKeyringError) -> String {
    guard let path = try await path() else { throw .noKeyring }
    return path
  }

  private func call(
    _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue], _ expected: String
  ) async throws(LoginKeyringError) -> [BusValue] {
    do throws(BusError) {
      return try await bus.call(
        destination: daemon, path: path, interface: interface, method: method, arguments: arguments,
        expecting: expected, options: .noAutoStart
      ).arguments
    } catch {
      throw Self.meaning(of: error)
    }
  }

  private static func meaning(of error: BusError) -> LoginKeyringError {
    switch error.remoteName {
    case "org.gnome.keyring.Error.Denied": .denied
    case "org.freedesktop.Secret.Error.NoSuchObject": .noKeyring
    case "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownInterface",
      "org.freedesktop.DBus.Error.UnknownObject":
      .otherService
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner": .notRunning
    default: .failed(error.description)
    }
  }
}
