import Foundation
import Glibc
import TestKit
import Testing

@testable import WhorlDaemon

/// Private mode is one predicate: neither the bus nor the state folder is the system's.
@Suite(.timeLimit(.minutes(3))) struct PrivateModeTests {
  private static let variables = ["FP_VIRTUAL_IMAGE": "/tmp/none", "FP_DRIVERS_WHITELIST": "virtual_image"]
  private static let tpm = ["WHORL_TPM2_DEVICE": "swtpm:path=/tmp/none"]

  @Test func `Both of one's own make it private, and the bridge gets the test variables`() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "bus")
    let found = try surroundings(bus: "unix:path=\(folder("bus"))", state: folder.path)
    #expect(found.isPrivate)
    #expect(found.printFolder == folder.path)
    #expect(found.readerEnvironment == Self.variables)
    #expect(found.tpm2Device == "swtpm:path=/tmp/none")
  }

  @Test func `The system's bus or state folder under any name makes it not private`() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "bus")
    symlink("/run/dbus/system_bus_socket", folder("linked-bus"))
    symlink("/var/lib", folder("linked-lib"))
    let own = "unix:path=\(folder("bus"))"
    let buses: [String?] = [
      nil, "", "unix:path=/run/dbus/system_bus_socket", "unix:path=/var/run/dbus/system_bus_socket",
      "unix:path=/run/dbus/../dbus/system_bus_socket", "unix:path=\(folder("linked-bus"))", "unix:abstract=x",
      "unix:path=/run/dbus/system%5fbus_socket", "\(own);unix:path=/run/dbus/system_bus_socket",
      "unix:path=/run/dbus/system_bus_socket,\(own.dropFirst(5))", "tcp:host=localhost,port=1", "autolaunch:",
      "\(own),unknown=1", "unix:path=\(folder("absent"))",
    ]
    for bus in buses {
      let found = try surroundings(bus: bus, state: folder.path)
      #expect(!found.isPrivate, "\(bus ?? "no address")")
      #expect(found.readerEnvironment.isEmpty)
      #expect(found.tpm2Device == nil && found.remark?.contains("WHORL_TPM2_DEVICE") == true)
      #expect(found.stateFolder == "/var/lib/whorl" && found.printFolder == "/var/lib/fprint")
      #expect(found.remark?.contains("FP_VIRTUAL_IMAGE") == true)
    }
    for state in [nil, "/var/lib/whorl", "/var/lib/fprint", "/var/lib", "/", folder("linked-lib"), "relative"] {
      if let state, access(state, F_OK) != 0 { continue }
      #expect(try !surroundings(bus: own, state: state).isPrivate, "\(state ?? "no state folder")")
    }
  }

  @Test func `A private bus with a state folder that cannot be made stops the daemon`() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "bus")
    for state in [folder("absent/state"), "relative/state", folder("absent") + "/..", folder("absent") + "/"] {
      #expect(throws: Surroundings.Unusable.self, "\(state)") {
        try surroundings(bus: "unix:path=\(folder("bus"))", state: state)
      }
    }
  }

  @Test func `A private bus's state folder that is not there is made when something is kept, for its owner alone`()
    throws
  {
    let folder = try TemporaryFolder()
    try folder.write("", to: "bus")
    let found = try surroundings(bus: "unix:path=\(folder("bus"))", state: folder("state") + ":/not/this")
    #expect(found.isPrivate)
    try found.prepareFoldersForStart()
    #expect(access(folder("state"), F_OK) != 0)
    try found.prepareFolders()
    var status = stat()
    for path in [folder("state"), folder("state/.whorl")] {
      #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o700)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "a mount namespace needs root"))
  func `On the system's bus or state folder whorld has no virtual reader, whatever the variables say`() async throws {
    let folder = try TemporaryFolder(open: true)
    // A system bus and system state of its own in a mount namespace, at the real places.
    let script = """
      set -eu
      mount -t tmpfs tmpfs /run; mkdir -p /run/dbus /run/own; mount -t tmpfs -o mode=755 tmpfs /var/lib
      mkdir -p /var/lib/fprint /var/lib/whorl /run/own/state; chmod 700 /var/lib/whorl /run/own/state
      start_bus() {
        printf '<busconfig><type>session</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth><policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>' "$1" > "$1.conf"
        dbus-daemon --config-file="$1.conf" --fork --print-pid=5 5> "$1.pid"
      }
      start_bus /run/dbus/system_bus_socket
      start_bus /run/own/bus
      try() { # NAME BUS STATE
        name="$1"; bus="$2"; state="$3"
        env -i PATH=/usr/bin:/bin FP_VIRTUAL_IMAGE=/run/own/finger FP_VIRTUAL_DEVICE=/run/own/device ${state:+STATE_DIRECTORY="$state"} \
          DBUS_SYSTEM_BUS_ADDRESS="unix:path=$bus" "$WHORLD" 2> /run/own/log & pid=$!
        gdbus wait --address "unix:path=$bus" --timeout 20 net.reactivated.Fprint
        echo "$name: $(gdbus call --address "unix:path=$bus" -d net.reactivated.Fprint \
          -o /net/reactivated/Fprint/Manager -m net.reactivated.Fprint.Manager.GetDevices)"
        kill "$pid"; wait "$pid"
        cat /run/own/log >&2
      }
      try private /run/own/bus /run/own/state
      try system-bus /run/dbus/system_bus_socket /run/own/state
      try system-state /run/own/bus /var/lib/whorl
      try no-state /run/own/bus ""
      kill "$(cat /run/dbus/system_bus_socket.pid)" "$(cat /run/own/bus.pid)"
      """
    let result = try await RunningProgram.run(
      "/usr/bin/unshare", ["--mount", "--propagation", "private", "/bin/sh", "-c", script],
      environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "WHORLD": BuiltPrograms.path("whorld")])
    withExtendedLifetime(folder) {}
    let lines = result.text.split(separator: "\n")
    #expect(result.status == 0, "\(result.errorText)")
    // The machine that runs this may have a real reader; virtual ones are what must not show.
    #expect(lines.first { $0.hasPrefix("private:") }?.contains("Device/1") == true, "both virtual readers: \(lines)")
    for name in ["system-bus", "system-state", "no-state"] {
      let line = lines.first { $0.hasPrefix("\(name):") }
      #expect(line?.contains("Device/") == false, "\(name): \(line ?? "nothing") \(result.errorText)")
    }
    #expect(result.errorText.contains("ignoring FP_VIRTUAL_DEVICE, FP_VIRTUAL_IMAGE"))
  }

  private func surroundings(bus: String?, state: String?) throws -> Surroundings {
    var environment = Self.variables.merging(Self.tpm) { old, _ in old }
    environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus
    environment["STATE_DIRECTORY"] = state
    return try Surroundings(environment: environment, programFolder: "/nowhere")
  }
}
