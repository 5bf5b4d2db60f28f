import Foundation
import Glibc
import ReaderLink
import TestKit
import Testing

/// Debian's pam_fprintd.so in a stack of its own, through pamtester: with whorld it says and returns what it does with
/// fprintd.
///
/// The stack is mounted over /etc/pam.d in a mount namespace, which needs root and leaves the machine's own alone.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "a mount namespace needs root"))
struct StockPAMTests {
  /// Starts one authentication.
  private func login(_ side: FprintSide, user: String = "root", options: String = "") async throws -> RunningProgram {
    let module = "/usr/lib/\(try World.multiarch())/security/pam_fprintd.so"
    try side.folder.makeFolder("pam.d", mode: 0o755)
    try side.folder.write(
      "auth required \(module) \(options)\naccount required pam_permit.so\n", to: "pam.d/whorl-test")
    return try RunningProgram(
      "/usr/bin/unshare",
      [
        "-m", "--", "/bin/sh", "-c",
        "mount --bind \"$1\" /etc/pam.d && exec stdbuf -oL pamtester whorl-test \"$2\" authenticate 2>&1", "sh",
        side.folder("pam.d"), user,
      ],
      environment: [
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C", "DBUS_SYSTEM_BUS_ADDRESS": side.bus.address,
      ], input: "")
  }

  /// Standard error is in the output: retries are errors to the module, and ask for a touch all the same.
  private static func asksForTouch(_ line: String) -> Bool {
    ["Swipe", "Place", "Remove your finger", "Your finger was not"].contains { line.hasPrefix($0) }
  }

  /// Runs one authentication to its end with these touches, one whenever the module asks for one.
  private func authenticate(
    _ side: FprintSide, user: String = "root", options: String = "", touching touches: [FprintSide.Touch] = [],
    then: () async throws -> Void = {}
  ) async throws -> FprintSide.Outcome {
    let program = try await login(side, user: user, options: options)
    var seen = 0
    for touch in touches {
      guard let asked = try await FprintSide.nextLine(program, after: seen, where: Self.asksForTouch) else { break }
      seen = asked
      try await side.touch(touch)
    }
    try await then()
    return FprintSide.outcome("pamtester \(user) \(options)", try await program.wait())
  }

  /// Plays a scenario to both daemons at once and compares every line and exit status.
  private func bothSay(
    _ readers: [FprintSide.Reader] = [.image], at location: SourceLocation = #_sourceLocation,
    _ scenario: @escaping @Sendable (FprintSide) async throws -> [FprintSide.Outcome]
  ) async throws {
    async let stock = scenario(FprintSide(.stock, readers: readers))
    async let whorl = scenario(FprintSide(.whorl, readers: readers))
    let (expected, seen) = try await (stock, whorl)
    #expect(expected.count == seen.count, sourceLocation: location)
    for (expected, seen) in zip(expected, seen) {
      let same = expected == seen
      #expect(same, "\nfprintd:\n\(expected)\nwhorld:\n\(seen)\n", sourceLocation: location)
    }
  }

  @Test func `A match opens, also after a miss or a bad touch, and three misses do not`() async throws {
    try await bothSay { side in
      try await side.enroll()
      var said: [FprintSide.Outcome] = []
      for touches: [FprintSide.Touch] in [
        [.press(.leftLoop, 6)],
        [.press(.whorl, 1), .press(.leftLoop, 7)],
        [.retry(.general), .retry(.tooShort), .retry(.centerFinger), .retry(.removeFinger), .press(.leftLoop, 8)],
        [.press(.whorl, 1), .press(.whorl, 2), .press(.whorl, 3)],
        [.press(.leftLoop, 6)],
      ] {
        try await side.untilReleased()
        said.append(try await authenticate(side, touching: touches))
      }
      try await side.untilReleased()
      said.append(try await authenticate(side, options: "max-tries=1", touching: [.press(.whorl, 4)]))
      #expect(said.map { $0.end == .exited(0) } == [true, true, true, false, true, false], "\(side.daemon): \(said)")
      return said
    }
  }

  @Test func `Users without prints, and users that do not exist, go on at once and without a prompt`() async throws {
    try await bothSay { side in
      try await side.enroll()
      return [
        try await authenticate(side, user: "bin"),
        try await authenticate(side, user: "nobody-of-that-name"),
      ]
    }
  }

  @Test func `A reader that nobody touches times out, and is free again`() async throws {
    try await bothSay { side in
      try await side.enroll()
      let timedOut = try await authenticate(side, options: "timeout=10")
      try await side.untilReleased()
      return [timedOut, try await authenticate(side, touching: [.press(.leftLoop, 6)])]
    }
  }

  @Test func `Another user's finger is a miss`() async throws {
    try await bothSay { side in
      try await side.enroll(.leftLoop, user: 1)
      try await side.enroll(.whorl, user: 2)
      return [
        try await authenticate(side, user: "daemon", options: "max-tries=1", touching: [.press(.whorl, 6)]),
        try await authenticate(side, user: "bin", options: "max-tries=1", touching: [.press(.whorl, 6)]),
      ]
    }
  }

  @Test func `With several fingers, any of them opens`() async throws {
    try await bothSay { side in
      try await side.enroll(.leftLoop, as: "left-thumb")
      try await side.enroll(.whorl, as: "right-ring-finger")
      var said: [FprintSide.Outcome] = []
      for finger in [SyntheticFinger.leftLoop, .whorl, .arch] {
        try await side.untilReleased()
        said.append(try await authenticate(side, options: "max-tries=1", touching: [.press(finger, 6)]))
      }
      return said
    }
  }

  @Test func `A reader that is pulled out in the middle ends the login at once`() async throws {
    // fprintd 1.94.2 has no word for it; whorld says verify-disconnected, for which the module has a message.
    let side = try await FprintSide(.whorl, readers: [.device])
    #expect(try await side.run("enroll", touching: [.command("SCAN a")]).end == .exited(0))
    let pulled = try await authenticate(side, touching: [.command("UNPLUG")])
    #expect(pulled.end == .exited(1))
    let gone = try await authenticate(side)
    #expect(gone.end == .exited(1))
    #expect(!gone.output.contains(where: Self.asksForTouch), "no reader, no prompt: \(gone)")
  }

  @Test func `Restarted in the middle of a login, the daemon costs that login only`() async throws {
    try await bothSay { side in
      try await side.enroll()
      let program = try await login(side)
      _ = try await FprintSide.nextLine(program, after: 0, where: Self.asksForTouch)
      side.program?.signal(SIGKILL)
      _ = try await side.program?.wait()
      let cut = FprintSide.outcome("cut short", try await program.wait())
      try await side.start()
      return [cut, try await authenticate(side, touching: [.press(.leftLoop, 6)])]
    }
  }

  @Test func `One login comes after the other without a pause`() async throws {
    let side = try await FprintSide(.whorl, readers: [.device])
    #expect(try await side.run("enroll", touching: [.command("SCAN a")]).end == .exited(0))
    for number in 1...20 {
      let outcome = try await authenticate(side, touching: [.command("SCAN a")])
      #expect(outcome.end == .exited(0), "login \(number): \(outcome)")
    }
  }

  @Test func `A login that is killed at its prompt leaves the reader to the next`() async throws {
    let side = try await FprintSide(.whorl)
    try await side.enroll()
    for number in 1...5 {
      let killed = try await login(side)
      _ = try await FprintSide.nextLine(killed, after: 0, where: Self.asksForTouch)
      killed.signal(SIGKILL)
      _ = try await killed.wait()
      try await side.untilReleased()
      let next = try await authenticate(side, touching: [.press(.leftLoop, 5 + number)])
      #expect(next.end == .exited(0), "after kill \(number): \(next)")
    }
  }

  @Test func `Five misses lock the finger out, and the login goes on without a prompt`() async throws {
    let side = try await FprintSide(.whorl)
    try await side.enroll()
    for number in 1...5 {
      _ = try await authenticate(side, options: "max-tries=1", touching: [.press(.whorl, number)])
    }
    let locked = try await authenticate(side)
    #expect(locked.end == .exited(1))
    #expect(!locked.output.contains(where: Self.asksForTouch), "locked out, no prompt: \(locked)")
  }
}
