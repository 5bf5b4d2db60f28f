import GLibLoop
import Glibc
import SecretMemory
import TestKit
import Testing

@testable import WhorlAgent

@Suite(.timeLimit(.minutes(1))) struct PinentryTests {
  init() {
    GLibLoop.startThread()
    signal(SIGPIPE, SIG_IGN)
  }

  private let text = Pinentry.Text(description: "Whorl asks.\nA % program", error: "wrong")

  /// What the person gave; the failure in words otherwise.
  @GLibActor private func ask(_ fake: FakePinentry, environment: [String: String] = [:]) async -> String {
    await ask(fake.path, environment)
  }

  @GLibActor private func ask(_ path: String, _ environment: [String: String] = [:]) async -> String {
    do throws(PromptFailure) {
      let passcode = try await Pinentry(program: path, environment: environment).ask(text)
      return "gave " + passcode.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    } catch {
      switch error {
      case .cancelled: return "cancelled"
      case .hidden: return "hidden"
      case .unusable(let why): return why
      }
    }
  }

  @Test func `It is told what to show, and what was typed comes back byte for byte`() async throws {
    let fake = try FakePinentry(answers: ["pin s3cret %25%0A \u{E9}"])
    #expect(await ask(fake) == "gave s3cret %\n \u{E9}")
    try await fake.logs("BYE")
    #expect(
      fake.log == [
        "SETTITLE Whorl", "SETDESC Whorl asks.%0AA %25 program", "SETPROMPT Password:", "SETERROR wrong", "GETPIN",
        "BYE",
      ])
  }

  @Test func `It has what a dialog needs of the environment, and nothing else`() async throws {
    let fake = try FakePinentry(answers: ["cancel"])
    let given = [
      "DISPLAY": ":7", "WAYLAND_DISPLAY": "w", "XDG_RUNTIME_DIR": "/run/x", "LC_ALL": "C", "SECRET_TOKEN": "t",
      "LD_PRELOAD": "", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/x", "PATH": "/evil",
    ]
    #expect(await ask(fake, environment: given) == "cancelled")
    let names = Set(fake.environment.map { String($0.prefix { $0 != "=" }) })
    #expect(
      names.subtracting(["PWD", "_", "SHLVL", "OLDPWD"]) == [
        "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "LC_ALL", "PATH",
      ])
    #expect(!fake.environment.contains("PATH=/evil"))
  }

  @Test(arguments: [
    ("cancel", "cancelled"), ("error 83886142", "cancelled"), ("error 67109139", "could not show its dialog"),
    ("die", "ended without an answer"), ("say OK\\\\n", "gave "), ("say hello\\\\n", "does not speak"),
    ("say D %%zz\\\\nOK\\\\n", "garbled"), ("say D one\\\\nD two\\\\nOK\\\\n", "gave onetwo"),
    ("say #x\\\\nS y\\\\nD p\\\\n# z\\\\nOK\\\\n", "gave p"),
  ])
  func `Each end has its meaning`(answer: String, end: String) async throws {
    let fake = try FakePinentry(answers: [answer.replacing("\\\\", with: "\\")])
    let got = await ask(fake)
    #expect(got == end || (!end.hasPrefix("gave") && got.contains(end)), "\(got)")
  }

  @Test(arguments: [
    "ERR 1 no\n", "nonsense\n", String(repeating: "x", count: 100_000), String(repeating: "# x\n", count: 2000),
  ])
  func `One that greets with something else is given up`(greeting: String) async throws {
    let fake = try FakePinentry()
    try fake.greet(greeting)
    let end = await ask(fake)
    #expect(!end.hasPrefix("gave") && end != "cancelled", "\(end)")
    #expect(fake.timesAsked == 0)
  }

  @Test func `A password of more than any is none`() async throws {
    let long = String(repeating: "x", count: 900)
    let fake = try FakePinentry(answers: ["say D \(long)\\nD \(long)\\nD \(long)\\nOK\\n"])
    #expect(await ask(fake).contains("too long"))
  }

  @Test func `One that is not there is named`() async {
    #expect(await ask("/nonexistent/pinentry").contains("does not start"))
  }

  @Test func `Cancelling the task closes the dialog, with all that it has started`() async throws {
    let fake = try FakePinentry()
    let asking = Task { await ask(fake) }
    try await fake.logs("open")
    asking.cancel()
    #expect(await asking.value == "hidden")
    try await fake.logs("ended")
  }
}
