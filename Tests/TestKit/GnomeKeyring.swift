import Foundation

/// The real gnome-keyring-daemon on a session bus and with folders of the test's own. It ends with the last reference.
public final class GnomeKeyring: Sendable {
  /// The session bus.
  public let bus: PrivateBus
  private let folder: TemporaryFolder
  private let program: RunningProgram

  /// Starts the bus and the daemon, and waits until it serves secrets.
  /// - Parameter password: that of the login keyring that it makes, open; nil makes none.
  public init(password: String?) async throws {
    bus = try await PrivateBus()
    folder = try TemporaryFolder()
    program = try RunningProgram(
      "/usr/bin/gnome-keyring-daemon",
      ["--foreground", "--components=secrets"] + (password == nil ? [] : ["--unlock"]),
      environment: Self.environment(folder, bus), input: password ?? "")
    try await bus.waitForName("org.freedesktop.secrets")
  }

  /// The variables of a session that has this keyring.
  public var environment: [String: String] { Self.environment(folder, bus) }

  /// The bytes of the keyring's file; nil where there is none.
  public var file: [UInt8]? {
    FileManager.default.contents(atPath: folder("data/keyrings/login.keyring")).map { Array($0) }
  }

  /// Ends the daemon and waits for its end.
  public func stop() async throws {
    program.signal(SIGTERM)
    _ = try await program.wait()
  }

  private static func environment(_ folder: TemporaryFolder, _ bus: PrivateBus) -> [String: String] {
    [
      "PATH": "/usr/bin:/bin", "HOME": folder.path, "XDG_DATA_HOME": folder("data"), "XDG_RUNTIME_DIR": folder.path,
      "XDG_CONFIG_HOME": folder("config"), "XDG_CACHE_HOME": folder("cache"), "DBUS_SESSION_BUS_ADDRESS": bus.address,
    ]
  }
}
