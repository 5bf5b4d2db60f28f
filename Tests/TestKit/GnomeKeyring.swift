import Foundation

/// The real gnome-keyring-daemon on a session bus and with folders of the test's own. It ends with the last reference.
public final class GnomeKeyring: Sendable {
  /// The session bus.
  public let bus: PrivateBus
  private let folder: TemporaryFolder
  private let program: RunningProgram

  /// Starts the bus and the daemon, and waits until it serves secrets.
  /// - Parameters:
  ///   - password: that of the login keyring that it makes, open; nil makes none.
  ///   - hasPlainKeyring: whether it finds a login keyring that is not encrypted, as one with an empty password.
  public init(password: String?, hasPlainKeyring: Bool = false) async throws {
    bus = try await PrivateBus()
    folder = try TemporaryFolder()
    if hasPlainKeyring {
      try folder.makeFolder("data/keyrings")
      try folder.write(
        "[keyring]\ndisplay-name=Login\nctime=1\nmtime=1\nlock-on-idle=false\nlock-after=false\n",
        to: "data/keyrings/login.keyring", mode: 0o600)
    }
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

  /// Has the daemon that a login started serve secrets on the session's bus, as a desktop does, and waits until it does.
  public func startAfterLogin() async throws {
    let result = try await RunningProgram.run(
      "/usr/bin/gnome-keyring-daemon", ["--start", "--components=secrets"], environment: environment)
    guard result.status == 0 else { throw TestKitError("gnome-keyring-daemon --start: \(result.errorText)") }
    try await bus.waitForName("org.freedesktop.secrets")
  }

  /// Ends what a login started: the daemons whose folders are these, and no other.
  public func logOut() async throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
      guard let pid = pid_t(name), let variables = FileManager.default.contents(atPath: "/proc/\(pid)/environ"),
        String(decoding: variables, as: UTF8.self).contains("XDG_RUNTIME_DIR=\(folder.path)\0"),
        (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8))?.hasPrefix("gnome-keyring") == true
      else { continue }
      kill(pid, SIGTERM)
      while kill(pid, 0) == 0 { try await Task.sleep(for: .milliseconds(5)) }
    }
  }

  private static func environment(_ folder: TemporaryFolder, _ bus: PrivateBus) -> [String: String] {
    [
      "PATH": "/usr/bin:/bin", "HOME": folder.path, "XDG_DATA_HOME": folder("data"), "XDG_RUNTIME_DIR": folder.path,
      "XDG_CONFIG_HOME": folder("config"), "XDG_CACHE_HOME": folder("cache"), "DBUS_SESSION_BUS_ADDRESS": bus.address,
    ]
  }
}
