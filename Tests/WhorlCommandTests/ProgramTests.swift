import GLibLoop
import Glibc
import TestKit
import Testing

@testable import WhorlCommand

/// The built program on a real terminal, against a daemon that follows a script.
@Suite(.timeLimit(.minutes(2))) struct ProgramTests {
  init() { GLibLoop.startThread() }

  @Test @GLibActor func `the secret comes out byte for byte, and nothing else does`() async throws {
    let daemon = try await FakeWhorld()
    let secret: [UInt8] = [0, 255, 10, 13, 27] + Array("s3cret\n\n".utf8)
    daemon.items["mail"] = .init(constraints: ["biometry-any"], secret: secret)
    let program = try daemon.whorl("get", "mail", output: .pipe)
    #expect(try await program.output() == secret)
    #expect(try await program.end() == 0)
    #expect(program.screen == "Touch the reader (Fake Reader) to read the secret \"mail\".\r\n")
  }

  @Test @GLibActor func `a large secret passes a slow pipe whole`() async throws {
    let daemon = try await FakeWhorld()
    let secret = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    daemon.items["mail"] = .init(secret: secret)
    let program = try daemon.whorl("get", "mail", output: .pipe)
    #expect(try await program.output() == secret)
    #expect(try await program.end() == 0)
  }

  @Test @GLibActor func `on a terminal a newline follows the secret`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(secret: Array("s3cret".utf8))
    let program = try daemon.whorl("get", "mail")
    #expect(try await program.end() == 0)
    #expect(program.screen == "s3cret\r\n")
  }

  @Test @GLibActor func `the passcode is asked for on the terminal without an echo, whatever stdin is`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["device-passcode"], secret: Array("s3cret".utf8))
    let program = try daemon.whorl("get", "mail", input: Array("open sesame\n".utf8), output: .pipe)
    #expect(program.echoes)
    try await program.shows("Your password, to read the secret \"mail\": ")
    #expect(!program.echoes)
    program.type("wrong\n")
    try await program.shows("That is not your password; try again.")
    try await program.shows("Your password, to read the secret \"mail\": ")
    program.type("open sesame\n")
    #expect(try await program.output() == Array("s3cret".utf8))
    #expect(try await program.end() == 0)
    #expect(program.echoes)
    #expect(!program.screen.contains("sesame"))
    #expect(!program.screen.contains("wrong"))
  }

  @Test(arguments: [("\u{3}", Int32(0)), ("\u{1C}", 0), ("", SIGTERM), ("", SIGHUP), ("", SIGINT), ("\u{4}", 0)])
  @GLibActor func `however a prompt is left, the echo is back and the daemon is told`(
    keys: String, signal: Int32
  ) async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["device-passcode"], secret: Array("s3cret".utf8))
    let program = try daemon.whorl("get", "mail")
    try await program.shows("Your password")
    #expect(!program.echoes)
    if signal == 0 { program.type(keys) } else { kill(program.pid, signal) }
    #expect(try await program.end() == 5)
    #expect(program.echoes)
    #expect(
      program.screen.hasSuffix(
        "whorl: reading the secret \"mail\" was cancelled; to try again: whorl get mail\r\n"))
    #expect(daemon.calls.last == "InvalidateContext")
  }

  @Test @GLibActor func `Ctrl-C while the finger is awaited ends the request at the daemon`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["user-presence"], secret: [1])
    daemon.touch = nil
    let program = try daemon.whorl("get", "mail", output: .pipe)
    try await program.shows("or press Enter")
    program.type("\u{3}")
    #expect(try await program.end() == 5)
    #expect(program.echoes)
    #expect(daemon.calls.contains("Cancel app"))
    #expect(daemon.calls.last == "InvalidateContext")
    #expect(try await program.output().isEmpty)
  }

  @Test @GLibActor func `Enter while the finger is awaited goes on to the passcode, and shows nothing typed`()
    async throws
  {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["user-presence"], secret: Array("s3cret".utf8))
    daemon.touch = nil
    let program = try daemon.whorl("get", "mail", output: .pipe)
    try await program.shows("or press Enter to use your password.")
    #expect(!program.echoes)
    program.type("typed too soon\n")
    try await program.shows("Your password, to read the secret \"mail\": ")
    program.type("open sesame\n")
    #expect(try await program.output() == Array("s3cret".utf8))
    #expect(try await program.end() == 0)
    #expect(program.echoes)
    #expect(daemon.calls.contains("Cancel fallback"))
    #expect(!program.screen.contains("too soon"))
  }

  @Test @GLibActor func `from the finger's prompt to the passcode's nothing shows and nothing is lost`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["user-presence"], secret: Array("s3cret".utf8))
    daemon.touch = nil
    let program = try daemon.whorl("get", "mail", output: .pipe)
    try await program.shows("or press Enter to use your password.")
    #expect(!program.echoes)
    var echoes: [Bool] = []
    daemon.onCall = { _ in echoes.append(program.echoes) }
    program.type("\nopen sesame\n")
    try await program.shows("Your password, to read the secret \"mail\": ")
    #expect(try await program.output() == Array("s3cret".utf8))
    #expect(try await program.end() == 0)
    let given = try #require(daemon.calls.firstIndex(of: "ProvidePasscode"))
    #expect(given > 0 && echoes.count > 2)
    // What the daemon is asked before the passcode comes: whether one can be given, and to prefer it.
    #expect(!echoes.prefix(3).contains(true), "\(echoes)")
    #expect(program.echoes)
    #expect(!program.screen.contains("sesame"))
  }

  @Test @GLibActor func `a finger that comes after Enter leaves the terminal as it was, and nothing for the shell`()
    async throws
  {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["user-presence"], secret: Array("s3cret".utf8))
    daemon.touch = nil
    daemon.fallback = "matched"
    let program = try daemon.whorl("get", "mail", output: .pipe)
    try await program.shows("or press Enter to use your password.")
    program.type("\nopen sesame\n")
    #expect(try await program.output() == Array("s3cret".utf8))
    #expect(try await program.end() == 0)
    #expect(program.echoes)
    #expect(program.hasNothingLeft)
    #expect(!program.screen.contains("sesame"))
  }

  @Test @GLibActor func `after Ctrl-Z the shell has its echo, and fg asks again`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["device-passcode"], secret: Array("s3cret".utf8))
    let script = """
      set -m
      "$0" get mail
      stty -a | grep -o -e ' -*echo ' | sed 's/^/stopped:/'
      fg >/dev/null
      echo "ended:$?"
      """
    let program = try PtyProgram(
      "/bin/bash", ["-c", script, try BuiltPrograms.path("whorl")],
      environment: daemon.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 })
    try await program.shows("Your password")
    #expect(!program.echoes)
    program.type("\u{1A}")
    try await program.shows("stopped: echo")
    try await program.shows("Your password")
    try await program.stopsEchoing()
    program.type("open sesame\n")
    try await program.shows("s3cret")
    try await program.shows("ended:0")
    #expect(try await program.end() == 0)
    #expect(program.echoes)
    #expect(!program.screen.contains("sesame"))
  }

  @Test @GLibActor func `set asks twice without an echo and stores what was typed`() async throws {
    let daemon = try await FakeWhorld()
    let program = try daemon.whorl("set", "mail", "--require", "any")
    try await program.shows("Secret for \"mail\": ")
    #expect(!program.echoes)
    program.type("s3cret \u{E9}\n")
    try await program.shows("The same again: ")
    #expect(!program.echoes)
    program.type("s3cret \u{E9}\n")
    #expect(try await program.end() == 0)
    #expect(program.echoes)
    #expect(daemon.items["mail"]?.secret == Array("s3cret \u{E9}".utf8))
    #expect(daemon.items["mail"]?.constraints == ["biometry-any"])
    #expect(!program.screen.contains("s3cret"))
  }

  @Test @GLibActor func `a typed line that the terminal cut short is refused, and one that just fits is whole`()
    async throws
  {
    let daemon = try await FakeWhorld()
    let program = try daemon.whorl("set", "mail")
    try await program.shows("Secret for \"mail\": ")
    program.type(String(repeating: "x", count: 3000))
    program.type(String(repeating: "y", count: 2000) + "\n")
    #expect(try await program.end() == 1)
    #expect(program.screen.contains("4095 bytes or more"))
    #expect(program.echoes)
    #expect(daemon.items.isEmpty)

    let longest = String(repeating: "z", count: 4094)
    let other = try daemon.whorl("set", "mail")
    for prompt in ["Secret for \"mail\": ", "The same again: "] {
      try await other.shows(prompt)
      other.type(longest)
      other.type("\n")
    }
    #expect(try await other.end() == 0)
    #expect(daemon.items["mail"]?.secret == Array(longest.utf8))
  }

  @Test @GLibActor func `set takes all of a pipe to the byte, up to its limit`() async throws {
    let daemon = try await FakeWhorld()
    let secret = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    #expect(try await daemon.whorl("set", "mail", input: secret).end() == 0)
    #expect(daemon.items["mail"]?.secret == secret)

    let program = try daemon.whorl("set", "more", input: secret + [0])
    #expect(try await program.end() == 1)
    #expect(program.screen.contains("more than 1048576 bytes"))
    #expect(daemon.items["more"] == nil)
  }

  @Test @GLibActor func `Ctrl-C ends a set that waits for its input`() async throws {
    let daemon = try await FakeWhorld()
    let program = try PtyProgram(
      "/bin/bash",
      ["-c", "(sleep 600 & exec 1>&-; echo reading >&2; wait) | \"$0\" set mail", try BuiltPrograms.path("whorl")],
      environment: daemon.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 })
    await daemon.wasAsked("CopyMatching")
    program.type("\u{3}")
    _ = try await program.end()
    #expect(program.screen.contains("whorl: storing the secret \"mail\" was cancelled; to try again: whorl set mail"))
    #expect(daemon.items.isEmpty)
  }

  @Test @GLibActor func `a reader of our output that has gone ends it quietly with an error`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["user-presence"], secret: [1])
    daemon.touch = nil
    let program = try daemon.whorl("get", "mail", output: .pipe)
    await daemon.wasAsked("waiting")
    try program.breakPipe()
    try await program.shows("press Enter")
    try await program.stopsEchoing()
    program.type("\n")
    try await program.shows("Your password")
    program.type("open sesame\n")
    #expect(try await program.end() == 1)
    #expect(!program.screen.contains("whorl: "))

    let help = try PtyProgram(try BuiltPrograms.path("whorl"), ["--help"], environment: [:], output: .broken)
    #expect(try await help.end() == 1)
    #expect(help.screen.isEmpty)
  }

  @Test @GLibActor func `with standard output closed the secret goes nowhere`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(secret: Array("s3cret".utf8))
    let program = try daemon.whorl("get", "mail", output: .closed)
    #expect(try await program.end() == 1)
    #expect(program.screen.contains("could not be written to standard output"))
    #expect(!program.screen.contains("s3cret"))

    // With the input closed too, the next file that is opened would become the output: the terminal, or the bus.
    for closed in ["<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"] {
      let other = try PtyProgram(
        "/bin/bash", ["-c", "exec \"$0\" get mail \(closed)", try BuiltPrograms.path("whorl")],
        environment: daemon.environment)
      #expect(try await other.end() == 1)
      #expect(!other.screen.contains("s3cret"))
    }
  }

  @Test @GLibActor func `without a terminal a passcode that is needed is an error at once`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["device-passcode"], secret: [1])
    let program = try daemon.whorl("get", "mail", hasTerminal: false, input: [], output: .pipe)
    #expect(try await program.end() == 12)
    #expect(program.screen.contains("no terminal"))
    #expect(try await program.output().isEmpty)
  }

  @Test @GLibActor func `a finger needs no terminal`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["user-presence"], secret: [7])
    let program = try daemon.whorl("get", "mail", hasTerminal: false, input: [], output: .pipe)
    #expect(try await program.output() == [7])
    #expect(try await program.end() == 0)
    #expect(!program.screen.contains("Enter"))
  }

  @Test @GLibActor func `a wrong finger ends with 4 and nothing on standard output`() async throws {
    let daemon = try await FakeWhorld()
    daemon.items["mail"] = .init(constraints: ["biometry-any"], secret: [1])
    daemon.touch = "no-match"
    let program = try daemon.whorl("get", "mail", output: .pipe)
    #expect(try await program.end() == 4)
    #expect(try await program.output().isEmpty)
    #expect(program.screen.contains("whorl: \"mail\": the finger is not known\r\n"))
  }

  @Test(arguments: [["status"], ["get", "x"], ["enroll"], ["list"]])
  @GLibActor func `without the daemon the exit code is 9 and the remedy is named`(words: [String]) async throws {
    let daemon = try await FakeWhorld(named: false)
    let program = try PtyProgram(
      try BuiltPrograms.path("whorl"), words, environment: daemon.environment, output: .pipe)
    #expect(try await program.end() == 9)
    let output = try await String(decoding: program.output(), as: UTF8.self)
    #expect((program.screen + output).contains("sudo systemctl start whorld"))

    let nowhere = try PtyProgram(
      try BuiltPrograms.path("whorl"), words,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"], output: .pipe)
    #expect(try await nowhere.end() == 9)
    #expect(nowhere.screen.contains("whorl: "))
  }

  @Test(arguments: ["tr_TR.UTF-8", "xx_YY", "C", "\u{FFFD}%n"])
  @GLibActor func `no locale changes what is said`(locale: String) async throws {
    let daemon = try await FakeWhorld()
    let program = try daemon.whorl(
      "get", "mail\u{1B}[31m\u{130}", environment: ["LC_ALL": locale, "LANG": locale, "LANGUAGE": "de"])
    #expect(try await program.end() == 3)
    #expect(
      program.screen == "whorl: no secret is called \"mail\\u{1B}[31m\u{130}\"; whorl list shows the names\r\n")
  }

  @Test @GLibActor func `Ctrl-C in the middle of an enrolment stops it and releases the reader`() async throws {
    let daemon = try await FakeWhorld()
    daemon.scans["Enroll"] = [("enroll-stage-passed", false)]
    let program = try daemon.whorl("enroll", "left-index-finger")
    try await program.enrolsForLogins()
    try await program.shows("stage 1 of 2")
    program.type("\u{3}")
    #expect(try await program.end() == 5)
    #expect(daemon.calls.suffix(2) == ["EnrollStop", "Release"])
    #expect(!daemon.calls.contains("VerifyStart left-index-finger"))
  }

  @Test @GLibActor func `an enrolment goes through its stages and the confirming touch`() async throws {
    let daemon = try await FakeWhorld()
    daemon.scans["Enroll"] = [
      ("enroll-stage-passed", false), ("enroll-retry-scan", false), ("enroll-stage-passed", false),
      ("enroll-completed", true),
    ]
    daemon.scans["Verify"] = [("verify-match", true)]
    let program = try daemon.whorl("enroll", "left-index-finger")
    try await program.enrolsForLogins()
    #expect(try await program.end() == 0)
    for line in ["stage 1 of 2", "That did not work", "stage 2 of 2", "once more", "is enrolled"] {
      #expect(program.screen.contains(line))
    }
    #expect(
      daemon.calls.filter { $0 != "CopyMatching" && $0 != "GetStatus" } == [
        "CreateContext", "InvalidateContext", "Claim", "EnrollStart left-index-finger", "EnrollStop",
        "VerifyStart left-index-finger", "VerifyStop",
        "Release",
      ])
  }

  @Test @GLibActor
  func `a print that does not match its finger is deleted again, also when the confirmation is cut short`()
    async throws
  {
    let daemon = try await FakeWhorld()
    daemon.scans["Enroll"] = [("enroll-completed", true)]
    daemon.scans["Verify"] = [("verify-no-match", true)]
    let program = try daemon.whorl("enroll", "left-index-finger")
    try await program.enrolsForLogins()
    #expect(try await program.end() == 4)
    #expect(daemon.calls.suffix(2) == ["DeleteEnrolledFinger left-index-finger", "Release"])

    daemon.scans["Verify"] = []
    let other = try daemon.whorl("enroll", "right-thumb")
    try await other.enrolsForLogins()
    await daemon.wasAsked("VerifyStart right-thumb")
    kill(other.pid, SIGINT)
    #expect(try await other.end() == 5)
    #expect(daemon.calls.suffix(3) == ["VerifyStop", "DeleteEnrolledFinger right-thumb", "Release"])
  }

  @Test @GLibActor func `an argument that is not UTF-8 is refused`() async throws {
    let daemon = try await FakeWhorld()
    let program = try PtyProgram(
      "/bin/bash", ["-c", "exec \"$0\" get $'\\xff'", try BuiltPrograms.path("whorl")], environment: daemon.environment)
    #expect(try await program.end() == 2)
    #expect(program.screen.contains("argument 2 is not UTF-8"))
    #expect(daemon.calls.isEmpty)
  }

  @Test @GLibActor func `version and help need no daemon`() async throws {
    for words in [["--version"], ["--help"], ["--help", "get"]] {
      let program = try PtyProgram(try BuiltPrograms.path("whorl"), words, environment: [:], output: .pipe)
      #expect(!(try await program.output().isEmpty))
      #expect(try await program.end() == 0)
      #expect(program.screen.isEmpty)
    }
  }
}
