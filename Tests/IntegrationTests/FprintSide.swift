import Bus
import Foundation
import GLibLoop
import Glibc
import ReaderLink
import Synchronization
import TestKit

/// A daemon of net.reactivated.Fprint, stock or ours, with a bus, a polkit, a state folder and virtual readers of its
/// own: the same for both, so that what stock clients say of one can be held against what they say of the other.
final class FprintSide: Sendable {
  enum Daemon: String, CaseIterable, Sendable {
    /// Debian's fprintd.
    case stock
    case whorl
  }

  /// One of libfprint's virtual readers.
  enum Reader: String, Sendable {
    /// Images and real matching; five stages.
    case image = "virtual_image"
    /// Driven by text; verifies one print, has no storage.
    case device = "virtual_device"
    /// Driven by text; identifies and keeps prints itself.
    case storage = "virtual_device_storage"

    var variable: String {
      switch self {
      case .image: "FP_VIRTUAL_IMAGE"
      case .device: "FP_VIRTUAL_DEVICE"
      case .storage: "FP_VIRTUAL_DEVICE_STORAGE"
      }
    }
  }

  /// What a hand does once a client asks for the next touch.
  enum Touch: Sendable {
    case press(SyntheticFinger, Int)
    /// The image reader did not see the finger well.
    case retry(RetryReason)
    /// A command of a reader that is driven by text, such as `SCAN a`.
    case command(String)

    /// The same finger once more, which never lies quite the same way.
    var again: Touch { if case .press(let finger, let number) = self { .press(finger, number + 1) } else { self } }
  }

  /// How a client ended.
  struct Outcome: Sendable, Equatable, CustomStringConvertible {
    let command: String
    let end: RunningProgram.End
    let output: [String]
    let errors: [String]

    var description: String {
      "$ \(command)\n" + (output + errors.map { "! " + $0 } + ["= \(end)"]).joined(separator: "\n")
    }
  }

  let daemon: Daemon
  let readers: [Reader]
  let bus: PrivateBus
  let polkit: PolkitMock
  let folder: TemporaryFolder
  /// Kept: a program ends with its last reference.
  private let running = Mutex<[RunningProgram]>([])

  /// - Parameters:
  ///   - state: a state folder to copy, as if the other daemon had been there before.
  ///   - users: who has a passcode, `World.passcode`; whorld sees that when it starts.
  init(_ daemon: Daemon, readers: [Reader] = [.image], copying state: String? = nil, passcodeOf users: [String] = [])
    async throws
  {
    // Before anybody hops to GLibActor, which nobody would run.
    GLibLoop.startThread()
    self.daemon = daemon
    self.readers = readers
    bus = try await PrivateBus()
    polkit = try await PolkitMock(bus: bus)
    folder = try TemporaryFolder(open: true)
    try folder.makeFolder("state")
    if let state {
      let copy = try await RunningProgram.run("/usr/bin/cp", ["-a", state + "/.", folder("state")])
      guard copy.status == 0 else { throw WorldError(copy.errorText) }
    }
    if !users.isEmpty { try World.setPasscode(of: users, in: folder) }
    try await start()
  }

  var state: String { folder("state") }
  func socket(_ reader: Reader) -> String { folder(reader.rawValue) }

  /// Starts the daemon, and waits until it has its name.
  @discardableResult
  func start() async throws -> RunningProgram {
    var environment = [
      "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "STATE_DIRECTORY": state, "PATH": "/usr/bin:/bin",
      "FP_DRIVERS_WHITELIST": readers.map(\.rawValue).joined(separator: ":"),
      "FP_DRIVERS_ALLOWLIST": readers.map(\.rawValue).joined(separator: ":"),
    ]
    for reader in readers { environment[reader.variable] = socket(reader) }
    let path = daemon == .stock ? "/usr/libexec/fprintd" : try BuiltPrograms.path("whorld")
    let program = try RunningProgram(path, ["-t"], environment: environment, input: "")
    running.withLock { $0.append(program) }
    try await bus.waitForName("net.reactivated.Fprint")
    return program
  }

  /// The daemon that runs now.
  var program: RunningProgram? { running.withLock { $0.last } }

  /// Ends the daemon and starts it again.
  func restart() async throws {
    if let program {
      program.signal(SIGTERM)
      _ = try await program.wait()
    }
    try await start()
  }

  // MARK: Clients

  /// Starts one of fprintd's own clients.
  func client(_ tool: String, _ arguments: [String] = [], user: UInt32? = nil) throws -> RunningProgram {
    try RunningProgram(
      "/usr/bin/fprintd-" + tool, arguments,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PATH": "/usr/bin:/bin", "LANG": "C"], input: "",
      user: user)
  }

  /// Runs one of fprintd's own clients to its end, with these touches, one whenever it asks for the next;
  /// the last one again for as long as an enrolment goes on.
  /// - Parameter isHeld: whether another client holds the reader, as the test means it to.
  func run(
    _ tool: String, _ arguments: [String] = [], on reader: Reader? = nil, user: UInt32? = nil,
    whileHeld isHeld: Bool = false, touching touches: [Touch] = []
  ) async throws -> Outcome {
    if !isHeld { try await untilReleased() }
    let program = try client(tool, arguments, user: user)
    var seen = 0
    var left = touches[...]
    // How many touches an enrolment takes is the daemon's to say.
    var last: Touch?
    while let touch = left.popFirst() ?? (tool == "enroll" ? last?.again : nil) {
      last = touch
      guard let asked = try await Self.nextLine(program, after: seen, where: Self.asksForTouch) else { break }
      seen = asked
      try await self.touch(touch, on: reader)
    }
    return Self.outcome(([tool] + arguments).joined(separator: " "), try await program.wait())
  }

  func touch(_ touch: Touch, on reader: Reader? = nil) async throws {
    let socket = socket(reader ?? readers[0])
    do {
      switch touch {
      case .press(let finger, let number): try await VirtualReader(socket: socket).press(finger, number)
      case .retry(let reason): try await VirtualReader(socket: socket).retry(reason)
      case .command(let text): try await VirtualDevice(socket: socket).command(text)
      }
    } catch { throw WorldError("\(daemon): \(error)") }
  }

  /// Enrols through fprintd-enroll, which must succeed.
  func enroll(
    _ finger: SyntheticFinger = .leftLoop, as name: String = "right-index-finger", user: UInt32? = nil
  ) async throws {
    let outcome = try await run(
      "enroll", ["-f", name], user: user, touching: [.press(finger, 1)])
    guard outcome.end == .exited(0) else { throw WorldError("\(daemon): \(outcome)") }
  }

  /// Waits until nobody holds the default reader.
  ///
  /// fprintd lets go of a reader a moment after its client is gone, and now and then never: then it is started again.
  func untilReleased() async throws {
    let limit = ContinuousClock.now + .seconds(10)
    while try await isClaimed() {
      guard ContinuousClock.now > limit else { continue }
      guard daemon == .stock else { throw WorldError("the reader is still claimed although its client is gone") }
      return try await restart()
    }
  }

  @GLibActor
  private func isClaimed() async throws -> Bool {
    let connection = try await BusConnection.open(address: bus.address)
    defer { connection.close() }
    let name = "net.reactivated.Fprint"
    do {
      _ = try await connection.call(
        destination: name, path: "/net/reactivated/Fprint/Device/0", interface: name + ".Device", method: "Claim",
        arguments: [.string("")])
      _ = try await connection.call(
        destination: name, path: "/net/reactivated/Fprint/Device/0", interface: name + ".Device", method: "Release")
    } catch {
      guard let remote = error.remoteName else { throw error }
      return remote == name + ".Error.AlreadyInUse"
    }
    return false
  }

  static func asksForTouch(_ line: String) -> Bool {
    line.hasPrefix("Enrolling ") || line.hasPrefix("Verifying: ")
      || (line.hasPrefix("Verify result: ") && line.hasSuffix("(not done)"))
      || ["stage-passed", "retry-scan", "swipe-too-short", "finger-not-centered", "remove-and-retry"].contains {
        line == "Enroll result: enroll-" + $0
      }
  }

  /// Waits for the next whole line after the first `seen` bytes of standard output that fits; gives where it ends, or
  /// nil where the program ends before.
  static func nextLine(
    _ program: RunningProgram, after seen: Int, where fits: (String) -> Bool
  ) async throws -> Int? {
    var position = seen
    while true {
      let bytes: [UInt8]
      do {
        bytes = Array(try await program.waitFor("\n", skipping: position).utf8)
      } catch {
        _ = try await program.wait(seconds: 10)
        return nil
      }
      guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else { continue }
      let line = String(decoding: bytes[position..<end], as: UTF8.self)
      position = end + 1
      if fits(line) { return position }
    }
  }

  /// The outcome without what differs between two runs of one program: its pid and the time of day.
  static func outcome(_ command: String, _ result: RunningProgram.Result) -> Outcome {
    Outcome(
      command: command, end: result.end, output: lines(result.text),
      errors: lines(
        result.errorText.replacing(#/:[0-9]+\): /#, with: "): ").replacing(#/[0-9:]{8}\.[0-9]{3}: /#, with: "")))
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map(String.init)
  }
}
