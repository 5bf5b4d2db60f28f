import Foundation
import GLibLoop
import Glibc
import TestKit
import Testing

/// Enclaves of programs' own: what they can do, whom they refuse, and what they leave behind.
@Suite(.timeLimit(.minutes(4))) struct EmbeddedTests {
  private static let programs = ["dbus-daemon", "whorl-embedded", "whorld"]

  @Test func `An item comes out by a finger that was enrolled in the enclave, and by the passcode`() async throws {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    _ = try await program.tell("answer \(World.passcode)")
    #expect(try await program.tell("fingers") == "fingers ")
    #expect(try await scene.enroll(.leftLoop, with: program) == "enrolled")
    #expect(try await program.tell("fingers") == "fingers right-index-finger")
    #expect(try await program.tell("add mail finger s3cret") == "added 0")
    #expect(try await program.tell("add bank passcode t0p") == "added 0")
    try program.order("get mail")
    try await scene.reader.press(.leftLoop, 2)
    #expect(try await program.line() == "got s3cret")
    try program.order("get bank")
    #expect(try await program.line() == "asked for read bank, embedded ")
    #expect(try await program.line() == "got t0p")
    _ = try await program.tell("answer")
    try program.order("get bank")
    #expect(try await program.line() == "asked for read bank, embedded ")
    #expect(try await program.line() == "got -128", "the person declined")
    #expect(try await program.tell("delete right-index-finger") == "deleted")
    #expect(try await program.tell("fingers") == "fingers ")
    #expect(program.program.text(.errors).contains("install Whorl's daemon for more"))
  }

  @Test func `A finger for which no passcode is given opens nothing, until it is`() async throws {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    let refusal = try await scene.enroll(.leftLoop, with: program)
    #expect(refusal.hasPrefix("error notRegistered: The finger is enrolled, but opens no secret"), "\(refusal)")
    #expect(try await program.tell("fingers") == "fingers right-index-finger")
    #expect(try await program.tell("add mail finger s3cret") == "added 0")
    #expect(try await program.tell("get mail") == "got -25293")
    _ = try await program.tell("answer \(World.passcode)")
    try program.order("register right-index-finger")
    #expect(try await program.line() == "asked for adoptFingers - right-index-finger")
    #expect(try await program.line() == "registered")
    try program.order("get mail")
    try await scene.reader.press(.leftLoop, 2)
    #expect(try await program.line() == "got s3cret")
    #expect(try await program.tell("register left-thumb").hasPrefix("error notRegistered"))
    #expect(try await program.tell("enroll nonsense").hasPrefix("error invalidArgument"))
    #expect(try await program.tell("delete left-thumb").hasPrefix("error noSuchFinger"))
  }

  @Test func `Stopped, it leaves nothing but its state, in which the next one finds the items`() async throws {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    #expect(try await program.tell("add mail none s3cret") == "added 0")
    let parts = try program.descendants()
    #expect(Set(parts.map(\.name)).isSuperset(of: Self.programs))
    #expect(try scene.buses.count == 1)
    #expect(try await program.tell("stop") == "stopped")
    for part in parts { #expect(try await part.ends(), "\(part.name)") }
    #expect(try program.descendants().isEmpty)
    #expect(try scene.buses.isEmpty)
    #expect(try await program.tell("get mail") == "got -25291", "the system's daemon, which is not there")
    #expect(try await program.tell("fingers").hasPrefix("error ended"))
    // In the same process, then in another one.
    #expect(try await program.tell("start \(scene.folder.path)") == "started")
    #expect(try await program.tell("get mail") == "got s3cret")
    #expect(try await program.tell("drop") == "dropped")
    #expect(try scene.buses.isEmpty)
    let next = try await scene.started()
    #expect(try await next.tell("get mail") == "got s3cret")
  }

  @Test func `Before and after, the program uses the daemon that the system has`() async throws {
    let world = try await World()
    try await world.startDaemon()
    let scene = try EmbeddedScene()
    let program = try scene.program(adding: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address])
    #expect(try await program.tell("add mail none outside") == "added 0")
    #expect(try await program.tell("start \(scene.folder.path)") == "started")
    #expect(try await program.tell("get mail") == "got -25300")
    #expect(try await program.tell("add mail none inside") == "added 0")
    #expect(try await program.tell("stop") == "stopped")
    #expect(try await program.tell("get mail") == "got outside")
    #expect(try await program.tell("start \(scene.folder("another"))").hasPrefix("started"))
    #expect(try await program.tell("drop") == "dropped")
    #expect(try await program.tell("start /dev/null").hasPrefix("error unsafeFolder"))
    #expect(try await program.tell("get mail") == "got outside", "a start that fails changes nothing")
  }

  @Test(arguments: [SIGKILL, SIGTERM, SIGSEGV])
  func `However the program ends, nothing of its enclave is left`(signal: Int32) async throws {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    #expect(try await program.tell("add mail none s3cret") == "added 0")
    let parts = try program.descendants()
    #expect(parts.count >= Self.programs.count)
    program.program.signal(signal)
    _ = try await program.program.wait()
    for part in parts { #expect(try await part.ends(), "\(part.name)") }
    #expect(try scene.buses.isEmpty)
    let next = try await scene.started()
    #expect(try await next.tell("get mail") == "got s3cret")
  }

  @Test func `When the process between is killed, the enclave goes too, and the program hears of it`() async throws {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    let parts = try program.descendants()
    let helper = try #require(parts.first { $0.name == "whorl-embedded" })
    helper.signal(SIGKILL)
    for part in parts where part !== helper { #expect(try await part.ends(), "\(part.name)") }
    #expect(try await program.tell("get mail") == "got -25291")
    #expect(try await program.tell("fingers").hasPrefix("error ended"))
    #expect(try await program.tell("stop") == "stopped")
    #expect(try scene.buses.isEmpty)
  }

  @Test func `A process has one enclave, and a folder one process`() async throws {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    let other = try EmbeddedScene()
    #expect(try await program.tell("second \(other.folder.path)").hasPrefix("error alreadyRunning"))
    let intruder = try scene.program()
    let refusal = try await intruder.tell("start \(scene.folder.path)")
    #expect(refusal.hasPrefix("error folderInUse: Another process has an enclave in"), "\(refusal)")
    #expect(try await intruder.tell("start \(other.folder.path)") == "started", "a refusal leaves the place free")
    #expect(try await program.tell("add mail none s3cret") == "added 0")
    #expect(try await intruder.tell("get mail") == "got -25300")
  }

  @Test func `A folder that others may read, write or replace is refused`() async throws {
    let scene = try EmbeddedScene(hasPasscode: false)
    let program = try scene.program()
    let folder = scene.folder
    for mode: mode_t in [0o755, 0o770, 0o777] {
      try folder.makeFolder("open", mode: mode)
      #expect(try await program.tell("start \(folder("open"))").hasPrefix("error unsafeFolder"), "\(mode)")
    }
    // Below a folder that others may write to, it could be replaced.
    try folder.makeFolder("open/own")
    let below = try await program.tell("start \(folder("open/own"))")
    #expect(below.hasPrefix("error unsafeFolder: Others can replace"), "\(below)")
    try folder.write("", to: "file")
    try folder.link("open", to: "link")
    for name in ["file", "file/x", "link", "with:colon"] {
      #expect(try await program.tell("start \(folder(name))").hasPrefix("error unsafeFolder"), "\(name)")
    }
    for name in ["/var/lib/whorl/x", "/var/lib/fprint"] {
      let system = try await program.tell("start \(name)")
      #expect(system.contains("is the installed daemon's"), "\(system)")
    }
    #expect(try program.descendants().isEmpty)
    #expect(try await program.tell("start \(folder("new/deep"))") == "started")
    var status = stat()
    #expect(stat(folder("new/deep"), &status) == 0 && status.st_mode & 0o7777 == 0o700)
  }

  @Test func `Thirty-two tasks that block Swift's pool at once are all served, also where the passcode is asked for`()
    async throws
  {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    #expect(try await program.tell("add mail none s3cret") == "added 0")
    #expect(try await program.tell("crowd 32 mail") == "crowd s3cret=32")
    _ = try await program.tell("answer \(World.passcode)")
    #expect(try await program.tell("add bank passcode t0p") == "added 0")
    try program.order("crowd 8 bank")
    var line = try await program.line()
    while line.hasPrefix("asked ") { line = try await program.line() }
    #expect(line == "crowd t0p=8")
  }

  @Test func `Where the program does not ask, the desktop's agent does, and where there is none nobody`() async throws {
    let scene = try EmbeddedScene()
    let program = try scene.program()
    #expect(try await program.tell("quiet \(scene.folder.path)") == "started")
    // "exe" is one that is about to become it.
    let agents = ["exe", "whorl"]
    #expect(try !program.descendants().contains { agents.contains($0.name) })
    #expect(try await program.tell("add bank passcode t0p") == "added 0")
    #expect(try await program.tell("get bank") == "got -25308")
    #expect(try await program.tell("drop") == "dropped")
    let desktop = try scene.program(adding: ["DISPLAY": ":99"])
    #expect(try await desktop.tell("quiet \(scene.folder.path)") == "started")
    let agent = try #require(try desktop.descendants().first { agents.contains($0.name) })
    #expect(try await desktop.tell("stop") == "stopped")
    #expect(try await agent.ends())
  }

  @Test @GLibActor func `On a terminal the person is asked there, and the program sees no passcode`() async throws {
    GLibLoop.startThread()
    let scene = try EmbeddedScene()
    let terminal = try PtyProgram(
      "/bin/bash", ["--norc", "-c", "$PROBE; echo ended $?"],
      environment: scene.environment.merging(["TERM": "dumb", "PROBE": try BuiltPrograms.path("embedded-probe")]) { $1 }
    )
    terminal.type("quiet \(scene.folder.path)\n")
    try await terminal.shows("started\r\n")
    terminal.type("add bank passcode t0p\n")
    try await terminal.shows("added 0\r\n")
    terminal.type("get bank\n")
    try await terminal.shows("Your login password: ")
    try await terminal.stopsEchoing()
    terminal.type(World.passcode + "\n")
    try await terminal.shows("got t0p\r\n")
    terminal.type("stop\n")
    try await terminal.shows("stopped\r\n")
    terminal.type("\u{4}")
    try await terminal.shows("ended 0")
    #expect(try scene.buses.isEmpty)
  }

  @Test func `An enrolment ends with its task, and with the enclave`() async throws {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    _ = try await program.tell("answer \(World.passcode)")
    let abandoned = try await program.tell("abandon left-thumb")
    #expect(abandoned.hasPrefix("error cancelled"), "\(abandoned)")
    #expect(try await program.tell("fingers") == "fingers ")
    #expect(try await scene.enroll(.leftLoop, with: program) == "enrolled", "the reader is free again")
    let forsaken = try await program.tell("forsake left-thumb")
    #expect(forsaken.hasPrefix("error ended"), "\(forsaken)")
    #expect(try program.descendants().isEmpty)
  }

  @Test(.enabled(if: geteuid() == 0, "to be another user needs root"))
  func `An ordinary user needs no rights for it`() async throws {
    let nobody: uid_t = 65534
    let scene = try EmbeddedScene(user: nobody)
    let program = try await scene.started()
    _ = try await program.tell("answer \(World.passcode)")
    #expect(try await scene.enroll(.leftLoop, with: program) == "enrolled")
    #expect(try await program.tell("add mail finger s3cret") == "added 0")
    try program.order("get mail")
    try await scene.reader.press(.leftLoop, 2)
    #expect(try await program.line() == "got s3cret")
    #expect(try await program.tell("stop") == "stopped")
    #expect(try scene.buses.isEmpty)
    // It is that user's; root has one of his own.
    let other = try scene.program(as: nil)
    #expect(try await other.tell("start \(scene.folder.path)").hasPrefix("error unsafeFolder"))
  }

  @Test func `What does not start says why, and leaves nothing`() async throws {
    let scene = try EmbeddedScene(hasPasscode: false)
    let program = try scene.program()
    // Another program in whorld's place.
    try scene.folder.makeFolder("programs")
    for name in ["whorl-embedded", "whorl-reader", "whorl-passcode"] {
      try scene.folder.link(try BuiltPrograms.path(name), to: "programs/\(name)")
    }
    let missing = try await program.tell("programs \(scene.folder.path) \(scene.folder("programs"))")
    #expect(missing.hasPrefix("error cannotStart: The programs whorl-embedded, whorld"), "\(missing)")
    try scene.folder.write("#!/bin/sh\necho out of order >&2; exit 3\n", to: "programs/whorld", mode: 0o755)
    let broken = try await program.tell("programs \(scene.folder.path) \(scene.folder("programs"))")
    #expect(broken.hasPrefix("error cannotStart: whorld did not start: out of order (all of it: "), "\(broken)")
    #expect(try scene.buses.isEmpty)
    #expect(try program.descendants().isEmpty)
    #expect(try await program.tell("start \(scene.folder.path)") == "started")
  }

  @Test func `A program that has an enclave beside it has none of it inside`() async throws {
    let path = try BuiltPrograms.path("embedded-probe")
    let needed = try await RunningProgram.run("/usr/bin/readelf", ["-d", path])
    #expect(needed.text.contains("libgio-2.0"), "\(needed.errorText)")
    for library in ["libfprint", "libsqlite3", "libpam", "libseccomp"] {
      #expect(!needed.text.contains(library), "\(library)")
    }
    // Their modules' symbols begin so.
    let symbols = try await RunningProgram.run("/usr/bin/nm", [path], seconds: 120).text
    #expect(symbols.contains("$s13WhorlEmbedded"))
    for module in ["$s11WhorlDaemon", "$s7Enclave", "$s8Keychain", "$s11Fingerprint"] {
      #expect(!symbols.contains(module), "\(module)")
    }
  }

  @Test func `Nobody else may use its bus, and nobody but the program its helper`() async throws {
    let scene = try EmbeddedScene()
    let program = try await scene.started()
    let folder = try #require(scene.buses.first)
    let address = "unix:path=\(scene.folder("runtime"))/\(folder)/bus"
    func call(_ method: String, user: UInt32? = nil) async throws -> RunningProgram.Result {
      try await RunningProgram.run(
        "/usr/bin/gdbus",
        [
          "call", "--address", address, "--dest", "org.whorl.Embedded", "--object-path", "/org/whorl/Embedded",
          "--method",
          "org.whorl.Embedded1.\(method)", "1",
        ], user: user)
    }
    let refusal = try await call("Fingers")
    #expect(refusal.status != 0 && refusal.errorText.contains("AccessDenied"), "\(refusal.errorText)")
    #expect(try await call("Cancel").status != 0)
    if geteuid() == 0 {
      // The folder is closed to him; if it were not, the bus would be.
      chmod(scene.folder.path, 0o755)
      chmod(scene.folder("runtime"), 0o755)
      chmod("\(scene.folder("runtime"))/\(folder)", 0o755)
      chmod("\(scene.folder("runtime"))/\(folder)/bus", 0o777)
      let stranger = try await call("Cancel", user: 65534)
      #expect(stranger.status != 0 && !stranger.errorText.contains("AccessDenied"), "\(stranger.errorText)")
    }
    let name = try await RunningProgram.run(
      "/usr/bin/gdbus",
      [
        "call", "--address", address, "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
        "--method", "org.freedesktop.DBus.RequestName", "org.freedesktop.login1", "0",
      ])
    #expect(name.errorText.contains("AccessDenied"), "no name that whorld believes in: \(name.text)")
    #expect(try await program.tell("fingers") == "fingers ")
  }
}
