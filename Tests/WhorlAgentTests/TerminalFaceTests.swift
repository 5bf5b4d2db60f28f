import Bus
import CPosix
import GLibLoop
import Glibc
import SecretMemory
import Testing

@testable import WhorlAgent

/// The agent's face on a terminal, over a pseudo-terminal.
@Suite(.timeLimit(.minutes(1))) struct TerminalFaceTests {
  init() { GLibLoop.startThread() }

  private static let finger: [String: BusValue] = [
    "wants": .string("finger"), "deed": .string("read"), "program": .string("app"), "pid": .uint32(7),
    "item": .string("mail"), "reason": .string("to\u{1B}]0;x\u{7} \u{202E}go on\"\n$ "),
  ]
  private static let passcode = finger.merging(["wants": .string("passcode"), "why": .string("no finger does")]) { $1 }

  @Test @GLibActor func `What others chose moves nothing on the terminal`() async throws {
    let screen = try Screen()
    screen.face.show(1, PromptWords(Self.finger))
    try await screen.shows(
      "Whorl: A program that calls itself \"app\" (process 7) wants to read \"mail\".\r\n"
        + "It says: \"to ]0;x   go on' $ \"\r\nTouch the fingerprint reader; Ctrl-C: refuse.\r\n")
    screen.face.close(1)
    await screen.face.finish()
    #expect(screen.isAsBefore)
  }

  @Test @GLibActor func `Enter and Ctrl-C are wishes; Enter only where the passcode will do`() async throws {
    let screen = try Screen()
    var wishes: [String] = []
    screen.face.onWish = { wishes.append("\($0) \($1)") }
    screen.face.show(1, PromptWords(Self.finger))
    try await screen.shows("refuse.\r\n")
    screen.type("\n\u{3}")
    try await screen.until { wishes == ["1 cancel"] }
    screen.face.close(1)
    screen.face.show(2, PromptWords(Self.finger.merging(["fallback": .string("passcode")]) { $1 }))
    try await screen.shows("Enter: give your login password instead; Ctrl-C: refuse.\r\n")
    screen.type("\n")
    try await screen.until { wishes == ["1 cancel", "2 fallBack"] }
    screen.face.close(2)
    // Where the program has a way of its own nobody is promised that the login password is asked for.
    screen.face.show(3, PromptWords(Self.finger.merging(["fallback": .string("program")]) { $1 }))
    try await screen.shows("Enter: no finger (the program goes on as it can); Ctrl-C: refuse.\r\n")
    screen.type("\n")
    try await screen.until { wishes.last == "3 fallBack" }
    screen.face.close(3)
    await screen.face.finish()
    #expect(screen.isAsBefore)
  }

  @Test @GLibActor func `A question gives what was typed, byte for byte, and shows none of it`() async throws {
    let screen = try Screen()
    let answer = Task { @GLibActor in await screen.answer(1, Self.passcode) }
    try await screen.shows("No finger does.\r\nYour login password: ")
    #expect(!screen.echoes)
    screen.type("s3cret \u{E9}\n")
    #expect(await answer.value == "gave s3cret \u{E9}")
    #expect(screen.isAsBefore)
    // Once more: what was wrong, and how many tries there are; not who asks, which stands there.
    let again = Self.passcode.merging(["error": .string("it was not right"), "tries-left": .uint32(1)]) { $1 }
    let second = Task { @GLibActor in await screen.answer(1, again) }
    try await screen.shows("\r\nIt was not right. 2 tries are left.\r\nYour login password: ")
    screen.type("\u{3}")
    #expect(await second.value == "cancelled")
    let former = Self.finger.merging(["wants": .string("former-passcode")]) { $1 }
    let third = Task { @GLibActor in await screen.answer(2, former) }
    try await screen.shows("Your former login password or recovery key: ")
    third.cancel()
    #expect(await third.value == "hidden")
    #expect(screen.isAsBefore)
    #expect(!screen.text.contains("s3cret"))
  }

  @Test @GLibActor func `A question goes before a finger, which is shown again afterwards`() async throws {
    let screen = try Screen()
    screen.face.show(1, PromptWords(Self.finger))
    try await screen.shows("Touch the fingerprint reader")
    let answer = Task { @GLibActor in await screen.answer(2, Self.passcode) }
    try await screen.shows("Your login password: ")
    screen.type("p\n")
    #expect(await answer.value == "gave p")
    try await screen.shows("Touch the fingerprint reader")
    screen.face.close(1)
    await screen.face.finish()
    #expect(screen.isAsBefore)
  }

  @Test @GLibActor func `In the background nothing is shown, asked or changed`() async throws {
    let screen = try Screen()
    screen.isForeground = false
    screen.face.show(1, PromptWords(Self.finger))
    #expect(await screen.answer(2, Self.passcode) == "other programs have the terminal")
    await screen.face.finish()
    screen.read()
    #expect(screen.text.isEmpty && screen.isAsBefore)
  }

  @Test @GLibActor func `What a shell has set since is left alone, and a stop is survived`() async throws {
    let screen = try Screen()
    let answer = Task { @GLibActor in await screen.answer(1, Self.passcode) }
    try await screen.shows("Your login password: ")
    screen.terminal.restore()
    #expect(screen.isAsBefore)
    // The shell has it meanwhile, and reads what is typed.
    screen.isForeground = false
    await screen.terminal.reapply()
    #expect(screen.isAsBefore)
    screen.isForeground = true
    await screen.terminal.reapply()
    try await screen.shows("Your login password: ")
    screen.type("p\n")
    #expect(await answer.value == "gave p")

    let second = Task { @GLibActor in await screen.answer(2, Self.passcode) }
    try await screen.shows("Your login password: ")
    screen.makeRaw()
    second.cancel()
    #expect(await second.value == "hidden")
    #expect(screen.isRaw)
  }
}

/// A pseudo-terminal with the face on it, and the person before it.
@GLibActor
private final class Screen {
  let face: TerminalFace
  let terminal: PromptTerminal
  var isForeground = true
  private(set) var text = ""
  private var seen = 0
  private let master: Int32
  private let before: termios

  init() throws {
    var name = [CChar](repeating: 0, count: 64)
    master = cposix_open_terminal(&name, name.count)
    let path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    try #require(master >= 0 && slave >= 0)
    var settings = termios()
    tcgetattr(master, &settings)
    before = settings
    let foreground = Foreground()
    terminal = PromptTerminal(descriptor: slave) { foreground.screen?.isForeground ?? true }
    face = TerminalFace(terminal)
    foreground.screen = self
  }

  isolated deinit { close(master) }

  private var settings: termios {
    var settings = termios()
    tcgetattr(master, &settings)
    return settings
  }

  var echoes: Bool { settings.c_lflag & tcflag_t(ECHO) != 0 }
  var isRaw: Bool { settings.c_lflag & tcflag_t(ICANON) == 0 }
  var isAsBefore: Bool {
    var (now, then) = (settings, before)
    return withUnsafeBytes(of: &now) { now in withUnsafeBytes(of: &then) { now.elementsEqual($0) } }
  }

  func makeRaw() {
    var settings = settings
    settings.c_lflag &= ~tcflag_t(ICANON)
    tcsetattr(master, TCSANOW, &settings)
  }

  func type(_ keys: String) { _ = write(master, keys, keys.utf8.count) }

  func read() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let got = Glibc.read(master, &buffer, buffer.count)
    if got > 0 { text += String(decoding: buffer[..<got], as: UTF8.self) }
  }

  func shows(_ words: String) async throws {
    while true {
      let rest = String(decoding: Array(text.utf8).dropFirst(seen), as: UTF8.self)
      if let range = rest.firstRange(of: words) {
        seen += rest[..<range.upperBound].utf8.count
        return
      }
      _ = try await glibReady(for: .readable, of: master)
      read()
    }
  }

  func until(_ condition: () -> Bool) async throws {
    while !condition() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// What a question comes to, in words.
  func answer(_ request: UInt64, _ details: [String: BusValue]) async -> String {
    do throws(PromptFailure) {
      let passcode = try await face.ask(request, PromptWords(details))
      return "gave " + passcode.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    } catch {
      switch error {
      case .cancelled: return "cancelled"
      case .hidden: return "hidden"
      case .unusable(let why): return why
      }
    }
  }
}

@GLibActor
private final class Foreground {
  weak var screen: Screen?
}
