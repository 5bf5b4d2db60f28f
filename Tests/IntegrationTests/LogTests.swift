import Bus
import Foundation
import GLibLoop
import Glibc
import TestKit
import Testing

/// The log of what programs were given and refused.
@Suite(.timeLimit(.minutes(3))) struct LogTests {
  /// Waits until `whorl log` has so many lines, since they are written beside the request.
  private func lines(_ world: World, _ count: Int, user: UInt32? = nil) async throws -> [[String]] {
    while true {
      let result = try await world.whorl(["log"], user: user)
      let lines = result.text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
      if lines.count >= count { return lines }
      try Task.checkCancellation()
    }
  }

  @Test func `A user sees what became of his secrets, by name while they are there, and nobody else does`() async throws
  {
    let world = try await World(accounts: ["paul": 1, "ada": 2])
    try await world.startDaemon()
    for name in ["open", "mail"] {
      let requirement = name == "open" ? "none" : "any"
      let stored = try await world.whorl(["set", name, "--require", requirement], to: "s3cret", user: 1)
      #expect(stored.status == 0, "\(stored.errorText)")
    }
    #expect(try await world.whorl(["get", "open"], user: 1).text == "s3cret")
    #expect(try await world.whorl(["get", "mail"], user: 1).status == 8)
    let program = try BuiltPrograms.path("whorl")
    let entries = try await lines(world, 2, user: 1)
    #expect(entries.count == 2)
    #expect(entries[0].dropFirst().prefix(4) == ["released", "read", "open", "none"])
    #expect(entries[1].dropFirst().prefix(4) == ["no finger enrolled", "read", "mail", "any"])
    #expect(entries.allSatisfy { $0[5].hasPrefix(program) }, "\(entries)")

    let json = try await world.whorl(["log", "--json"], user: 1)
    let objects = try #require(try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [[String: Any]])
    #expect(objects.map { $0["item"] as? String } == ["open", "mail"])
    #expect(objects.map { $0["outcome"] as? String } == ["released", "BiometryNotEnrolled"])

    // Neither the names nor the secret are in the file.
    let folder = world.state + "/.whorl/log"
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
      #expect(!text.contains("mail") && !text.contains("open\"") && !text.contains("s3cret"))
    }
    #expect(try await world.whorl(["log"], user: 2).text.isEmpty)
    #expect(try await world.whorl(["log"]).text.isEmpty)

    #expect(try await world.whorl(["rm", "open"], user: 1).status == 0)
    #expect(try await lines(world, 2, user: 1)[0][3].hasPrefix("#"))
    #expect(try await world.whorl(["forget", "--yes", "paul"]).status == 0)
    #expect(try await world.whorl(["log"], user: 1).text.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }

  @Test func `Where there is a journal, it gets the fields`() async throws {
    let world = try await World()
    // A socket of the test's own in the journal's place, in a mount namespace of whorld's.
    let folder = try world.folder.makeFolder("journal")
    let listener = try RunningProgram(
      "/usr/bin/python3",
      [
        "-c",
        """
        import socket
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind("\(folder)/socket")
        print("ready", flush=True)
        while True: print(s.recv(65536).decode(errors="replace"), flush=True)
        """,
      ], environment: ["PATH": "/usr/bin:/bin"], input: "")
    try await listener.waitFor("ready")
    let script = try world.folder.write(
      """
      #!/bin/sh
      exec unshare -m sh -c 'mount -t tmpfs none /run && mkdir -p /run/systemd/journal &&
        mount --bind \(folder) /run/systemd/journal && exec "$0"' '\(try BuiltPrograms.path("whorld"))'
      """, to: "whorld.sh", mode: 0o755)
    try await world.startDaemon(script)
    #expect(try await world.whorl(["set", "mail", "--require", "none"], to: "s3cret").status == 0)
    #expect(try await world.whorl(["get", "mail"]).text == "s3cret")
    let text = try await listener.waitFor("WHORL_PID")
    for field in ["WHORL_UID=0", "WHORL_OUTCOME=released", "WHORL_DEED=read", "SYSLOG_IDENTIFIER=whorld"] {
      #expect(text.contains(field + "\n"), "\(text)")
    }
    #expect(text.contains("WHORL_EXECUTABLE=\(try BuiltPrograms.path("whorl"))\n"))
    #expect(!text.contains("mail") && !text.contains("s3cret"))
  }
}
