import Foundation
import Glibc
import TestKit
import Testing

/// whorld with its device key sealed to a TPM2, through reboots and a change of the firmware.
@Suite(
  .timeLimit(.minutes(5)), .serialized,
  .enabled(if: SoftwareTPM.isAvailable, "swtpm, tpm2-tools or systemd-creds is missing"))
struct TPMTests {
  private static let before = String(repeating: "11", count: 32)
  private static let after = String(repeating: "22", count: 32)
  /// What the key is bound to.
  private static let register = 16

  /// A world with a count of the runs of systemd-creds, in a mount namespace of whorld's.
  private struct Machine {
    let world: World
    private let script: String
    private let runs: String

    init() async throws {
      world = try await World()
      try world.setPasscode()
      runs = world.folder("runs")
      let real = world.folder("systemd-creds")
      // By another process: a file that was open for writing here while another test started a program would be busy.
      let copy = try await RunningProgram.run("/usr/bin/cp", ["/usr/bin/systemd-creds", real])
      try #require(copy.status == 0, "\(copy.errorText)")
      // Between the programs the sessions that they leave in the TPM go, which the kernel's resource manager does elsewhere.
      let counting = try world.folder.writeProgram(
        """
        #!/bin/sh
        echo "$*" >> \(runs)
        export TPM2TOOLS_TCTI=swtpm:path=\(world.folder("tpm/s"))
        for kind in -t -l -s; do tpm2_flushcontext $kind; done >/dev/null 2>&1 </dev/null
        exec \(real) "$@"
        """, to: "counting")
      script = try world.folder.writeProgram(
        """
        #!/bin/sh
        exec unshare -m sh -c 'mount --bind \(counting) /usr/bin/systemd-creds && exec "$0"' \
          '\(try BuiltPrograms.path("whorld"))'
        """, to: "whorld.sh")
    }

    /// A reboot: the PCRs begin anew, and the firmware measures itself.
    func boot(_ firmware: String) async throws -> SoftwareTPM {
      let tpm = try await SoftwareTPM(in: world.folder("tpm"))
      try await tpm.extend(TPMTests.register, with: firmware)
      return tpm
    }

    func start(_ tpm: SoftwareTPM) async throws -> RunningProgram {
      try? FileManager.default.removeItem(atPath: runs)
      return try await world.startDaemon(script, adding: ["WHORL_TPM2_DEVICE": tpm.device])
    }

    func stop(_ daemon: RunningProgram) async throws {
      daemon.signal(SIGTERM)
      #expect(try await daemon.wait().status == 0)
    }

    /// How often systemd-creds was asked to open the key since the start.
    var openings: Int {
      let text = (try? String(contentsOfFile: runs, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").count { $0.contains("decrypt") }
    }
  }

  @Test(arguments: [false, true])
  func `A key sealed to the TPM opens after a reboot; after new firmware it is refused once, and the ways back lead on`(
    isByRecoveryKey: Bool
  ) async throws {
    let machine = try await Machine()
    let world = machine.world
    var tpm = try await machine.boot(Self.before)
    var daemon = try await machine.start(tpm)
    #expect(try await world.whorl(["set", "plain", "--require", "none"], to: "open").status == 0)
    #expect(try await world.whorl(["status"]).text.lowercased().contains("tpm"))
    let made = try await machine.world.onTerminal(["recovery-key"], ["Your password": World.passcode])
    let key = try #require(made.text.split(whereSeparator: \.isWhitespace).first { $0.count == 41 })
    #expect(
      try await world.whorl(["set", "note", "--require", "none", "--accessible", "when-unlocked"], to: "kept").status
        == 0)

    // A restart of the daemon, and one of the machine.
    try await machine.stop(daemon)
    daemon = try await machine.start(tpm)
    #expect(try await world.whorl(["get", "plain"]).text == "open")
    try await machine.stop(daemon)
    try await tpm.stop()
    tpm = try await machine.boot(Self.before)
    daemon = try await machine.start(tpm)
    #expect(try await world.whorl(["get", "plain"]).text == "open")
    #expect(machine.openings == 1)
    try await machine.stop(daemon)
    try await tpm.stop()

    // New firmware measures something else.
    tpm = try await machine.boot(Self.after)
    daemon = try await machine.start(tpm)
    let sealed = try Data(contentsOf: URL(fileURLWithPath: world.state + "/.whorl/device-key.cred"))
    for _ in 0..<3 {
      let refused = try await world.whorl(["get", "plain"])
      #expect(refused.status == 11 && refused.output.isEmpty, "\(refused.errorText)")
    }
    let status = try await world.whorl(["status"])
    #expect(
      status.status == 11 && status.text.contains("TPM") && status.text.contains("whorl recover"), "\(status.text)")
    #expect(machine.openings == 1)
    #expect(try Data(contentsOf: URL(fileURLWithPath: world.state + "/.whorl/device-key.cred")) == sealed)

    let back =
      isByRecoveryKey
      ? try await machine.world.onTerminal(
        ["recover", "--recovery"],
        ["Recovery key": String(key), "Your password, to unlock them from now on": World.passcode])
      : try await machine.world.onTerminal(["recover"], ["Your password, to bring your secrets back": World.passcode])
    #expect(back.status == 0, "\(back.text)")
    #expect(try await world.whorl(["get", "plain"]).text == "open")
    #expect(try await world.whorl(["get", "note"]).text == "kept")
    try await machine.stop(daemon)

    // From then on it is as before.
    daemon = try await machine.start(tpm)
    #expect(try await world.whorl(["get", "plain"]).text == "open")
    #expect(try await machine.world.onTerminal(["unlock"], ["Your password": World.passcode]).status == 0)
    #expect(try await world.whorl(["get", "note"]).text == "kept")
    try await machine.stop(daemon)
  }
}
