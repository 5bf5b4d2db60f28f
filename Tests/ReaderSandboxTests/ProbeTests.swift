import Foundation
import Glibc
import TestKit
import Testing

/// What a driver that somebody has taken over can do: tried by a program that sheds just what whorl-reader sheds.
@Suite(.timeLimit(.minutes(3))) struct ProbeTests {
  @Test(arguments: [
    "read /etc/shadow", "read /etc/passwd", "read FILE", "read /proc/self/stat",
    "read /proc/1/cmdline", "list /home", "list /proc", "write FILE",
  ])
  func `Landlock refuses it, and nothing else would`(_ attempt: String) async throws {
    try await expect("Permission denied", of: attempt)
  }

  // What both refuse is the filter's to refuse, which comes first: it is there on a kernel without Landlock too.
  @Test(arguments: [
    "create NEW", "truncate FILE", "delete FILE", "makeFolder NEW", "permissions FILE", "socket 2", "socket 10",
    "socket 1", "busConnection SOCKET", "listen NEW", "fork", "kill", "dumpable", "writableCode", "madeCode",
  ])
  func `the filter of system calls refuses it, and nothing else would`(_ attempt: String) async throws {
    try await expect("Operation not permitted", of: attempt)
  }

  private func expect(_ refusal: String, of attempt: String) async throws {
    let (refused, free) = try await (outcome(attempt, in: "private"), outcome(attempt, in: "free"))
    #expect(refused.end == .exited(0))
    #expect(refused.text == refusal + "\n")
    // An ordinary user cannot read everything even so.
    if geteuid() == 0 { #expect(free.text == "allowed\n", "\(free.text)") }
  }

  @Test(arguments: ["execute", "trace", "becomeRoot"])
  func `a bridge that tries it is ended at once`(_ attempt: String) async throws {
    #expect(try await outcome(attempt, in: "private").end == .signalled(SIGSYS))
  }

  @Test(arguments: [
    "read /etc/localtime", "list /sys", "list /dev", "write /dev/null", "read /dev/urandom",
    "deviceEvents", "thread", "library libz.so.1", "limits",
  ])
  func `a driver can go on doing what it needs`(_ attempt: String) async throws {
    #expect(try await outcome(attempt, in: "private").text == "allowed\n")
  }

  @Test func `a crash ends the bridge with its own signal`() async throws {
    #expect(try await outcome("abort", in: "private").end == .signalled(SIGABRT))
  }

  @Test func `a virtual reader may listen in its folder and do nothing else there`() async throws {
    #expect(try await outcome("listen NEW", in: "virtual").text == "allowed\n")
    for attempt in ["create NEW", "write FILE", "read FILE", "makeFolder NEW", "busConnection SOCKET"] {
      #expect(try await outcome(attempt, in: "virtual").text != "allowed\n", "\(attempt)")
    }
  }

  @Test func `a bridge for one reader alone opens its node, and no other`() async throws {
    let folder = try TemporaryFolder()
    for name in ["mine", "other"] { try folder.write("node", to: name, mode: 0o666) }
    for (name, wanted) in [("mine", "allowed\n"), ("other", "Permission denied\n")] {
      #expect(try await outcome("write \(folder(name))", in: "only:" + folder("mine")).text == wanted, "\(name)")
    }
    // Of the folder of USB devices only the list is left.
    if access("/dev/bus/usb", F_OK) == 0 {
      #expect(try await outcome("list /dev/bus/usb", in: "only:" + folder("mine")).text == "allowed\n")
    }
  }

  @Test func `an ordinary user does not get a bridge on the system`() async throws {
    // Without the account or without root, and the line says which.
    let user: UInt32? = geteuid() == 0 ? 65534 : nil
    let program = try TemporaryFolder(open: true)
    try ProgramFile.copy(BuiltPrograms.path("sandbox-probe"), to: program("probe"))
    let result = try await RunningProgram.run(program("probe"), ["system", "thread"], user: user)
    #expect([67, 77].contains(result.status ?? 0))
    #expect(result.text.contains("whorl-reader"))
  }

  /// - Parameter attempt: the probe's words; FILE is a file, NEW is not there yet, SOCKET has a listener.
  private func outcome(_ attempt: String, in place: String) async throws -> RunningProgram.Result {
    let folder = try TemporaryFolder()
    try folder.write("something", to: "file", mode: 0o666)
    let bus = try await PrivateBus()
    let path = bus.address.split(separator: ",")[0].dropFirst("unix:path=".count)
    let words = attempt.split(separator: " ").map { word in
      switch word {
      case "FILE": folder("file")
      case "NEW": folder("new")
      case "SOCKET": String(path)
      default: String(word)
      }
    }
    return try await RunningProgram.run(
      BuiltPrograms.path("sandbox-probe"), [place] + words,
      environment: [
        "PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no", "FP_VIRTUAL_IMAGE": folder("image"),
      ])
  }
}
