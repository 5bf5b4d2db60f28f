import Foundation
import TestKit
import Testing

/// Accounts whose home opens with the password alone: no finger for the first login.
@Suite(.serialized, .timeLimit(.minutes(3))) struct HomeTests {
  @Test func `While a home is closed its owner logs in with the password, and is told why`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a secret").status == 0)
    let status = try await world.whorl(["status"]).text
    #expect(!status.contains("home "), "an ordinary home is no news: \(status)")

    try world.folder.makeFolder("state/.whorl/root/var/lib/systemd/home")
    try world.folder.makeFolder("state/.whorl/root/proc/self")
    try world.folder.write("{}", to: "state/.whorl/root/var/lib/systemd/home/root.identity")
    let refused = try await authenticate(world)
    #expect(refused.status != 0)
    #expect(refused.errorText.contains("org.whorl.Error.BiometryNotAvailable"))
    #expect(
      refused.errorText.contains(
        "The home of root is encrypted and opens with the password alone; use your password for the first login."))
    let login = try await pamtester(world)
    #expect(login.status != 0)
    let lines = login.text.split(separator: "\n").filter { $0.contains("home") || $0.lowercased().contains("swipe") }
    #expect(lines == ["Your home is encrypted and opens with your password alone: please use your password."])
    try await daemon.waitFor("The home of root is encrypted", in: .errors)
    let report = try await world.whorl(["status"]).text
    #expect(report.contains("home         encrypted (systemd-homed), which your password alone opens;"))
    #expect(report.contains("it is closed now, so that logins take no finger"))
    let secret = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(8)])
    #expect(secret.text == "a secret", "secrets are another matter: \(secret.errorText)")

    try world.folder.write(
      "30 1 0:40 / /root rw - btrfs /dev/mapper/home-root rw\n", to: "state/.whorl/root/proc/self/mountinfo")
    let open = try RunningProgram("/usr/bin/gdbus", call(world), input: "")
    try await world.reader.press(SyntheticFinger.leftLoop.press(9))
    let accepted = try await open.wait()
    #expect(accepted.text.contains("left") || accepted.text.contains("right"), "\(accepted.text) \(accepted.errorText)")
    #expect(try await world.whorl(["status"]).text.contains("a login while it is closed takes no finger"))
  }

  private func call(_ world: World) -> [String] {
    [
      "call", "--address", world.bus.address, "--dest", "org.whorl", "--object-path", "/org/whorl", "--timeout", "30",
      "--method", "org.whorl.Authentication1.Authenticate", "root", "login", "{'timeout': <uint32 25>}",
    ]
  }

  /// A login through the real module, in whose stack nothing but a finger does.
  private func pamtester(_ world: World) async throws -> RunningProgram.Result {
    try world.folder.makeFolder("pam.d", mode: 0o755)
    try world.folder.write(
      "auth sufficient \(SourceTree.path("build/pam_whorl.so"))\nauth required pam_deny.so\n", to: "pam.d/whorl-test")
    return try await PamWrapperLock.hold {
      try await RunningProgram.run(
        "/usr/bin/pamtester", ["whorl-test", "root", "authenticate"],
        environment: [
          "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "LD_PRELOAD": "libpam_wrapper.so",
          "PAM_WRAPPER": "1", "PAM_WRAPPER_SERVICE_DIR": world.folder("pam.d"),
        ])
    }
  }

  private func authenticate(_ world: World) async throws -> RunningProgram.Result {
    try await RunningProgram.run("/usr/bin/gdbus", call(world))
  }
}
