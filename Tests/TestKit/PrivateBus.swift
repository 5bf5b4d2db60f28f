import Foundation

/// A message bus of the test's own, on which everybody may own, send and receive everything. Other users may connect.
/// It ends with the last reference.
public final class PrivateBus: Sendable {
  /// What to put into `DBUS_SYSTEM_BUS_ADDRESS`.
  public let address: String
  /// The bus's process.
  public let program: RunningProgram
  /// A folder for what programs around the bus leave in their folder for temporary files: gone with the bus. Anybody may
  /// write to it.
  public let temporaryFolder: String
  private let folder: TemporaryFolder

  /// Starts the bus and waits until it listens.
  ///
  /// - Parameters:
  ///   - activatable: names that the bus starts a program for, with the program's command line.
  ///   - policy: a file of bus policy; where given, all else is forbidden that the system bus forbids by itself.
  public init(activatable: [String: String] = [:], policy: String? = nil) async throws {
    folder = try TemporaryFolder(open: true)
    temporaryFolder = try folder.makeFolder("tmp", mode: 0o1777)
    let services = try folder.makeFolder("services", mode: 0o755)
    for (name, command) in activatable {
      try folder.write("[D-BUS Service]\nName=\(name)\nExec=\(command)\n", to: "services/\(name).service")
    }
    let rules =
      if let policy {
        """
        <policy context="default">
          <allow user="*"/>
          <deny own="*"/>
          <deny send_type="method_call"/>
          <allow send_type="signal"/>
          <allow send_requested_reply="true" send_type="method_return"/>
          <allow send_requested_reply="true" send_type="error"/>
          <allow receive_type="method_call"/>
          <allow receive_type="method_return"/>
          <allow receive_type="error"/>
          <allow receive_type="signal"/>
          <allow send_destination="org.freedesktop.DBus"/>
        </policy>
        <include>\(policy)</include>
        """
      } else {
        """
        <policy context="default">
          <allow user="*"/>
          <allow send_destination="*" eavesdrop="true"/>
          <allow receive_sender="*" eavesdrop="true"/>
          <allow own="*"/>
        </policy>
        """
      }
    let configuration = try folder.write(
      """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <listen>unix:path=\(folder("bus"))</listen>
        <auth>EXTERNAL</auth>
        <servicedir>\(services)</servicedir>
        \(rules)
      </busconfig>
      """, to: "bus.conf")
    program = try RunningProgram(
      "/usr/bin/dbus-daemon", ["--config-file=\(configuration)", "--nofork", "--nosyslog", "--print-address=1"],
      environment: ["PATH": "/usr/bin:/bin"], input: "")
    let line = try await program.waitFor("\n")
    address = String(line.prefix { $0 != "\n" })
  }

  /// Ends the bus now, as a crash of it would, and waits for its end.
  public func stop() async throws {
    program.signal(SIGTERM)
    _ = try await program.wait()
  }

  /// Calls `gdbus wait`: returns when somebody owns `name`.
  public func waitForName(_ name: String, seconds: Int = 30) async throws {
    let result = try await RunningProgram.run(
      "/usr/bin/gdbus", ["wait", "--address", address, "--timeout", "\(seconds)", name], seconds: seconds + 5)
    guard result.status == 0 else { throw TestKitError("nobody took the name \(name) on the private bus") }
  }
}
