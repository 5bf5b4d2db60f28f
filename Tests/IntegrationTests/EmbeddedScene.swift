import CPosix
import Foundation
import Glibc
import TestKit

/// A program that has an enclave of its own, on a virtual reader, and does what it is told.
final class EmbeddedScene: Sendable {
  let folder: TemporaryFolder
  let reader: VirtualReader
  private let user: uid_t?

  /// - Parameter user: who has it; the test's own user where nil.
  init(hasPasscode: Bool = true, user: uid_t? = nil) throws {
    self.user = user
    folder = try TemporaryFolder()
    reader = VirtualReader(socket: folder("finger"))
    try folder.makeFolder("runtime")
    try folder.makeFolder("state")
    if hasPasscode { try World.setPasscode(of: [Self.name(of: user ?? geteuid())], in: folder) }
    guard let user else { return }
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) { chown(folder(name), user, user) }
    chown(folder.path, user, user)
  }

  private static func name(of user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "root"
  }

  /// Where the buses' folders are.
  var buses: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder("runtime")).filter { $0.hasPrefix("whorl-embedded") }
    }
  }

  /// The program's variables.
  var environment: [String: String] {
    [
      "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": folder("runtime"), "FP_VIRTUAL_IMAGE": folder("finger"),
      "FP_DRIVERS_WHITELIST": "virtual_image", "FP_DRIVERS_ALLOWLIST": "virtual_image", "SWIFT_BACKTRACE": "enable=no",
    ]
  }

  /// Starts the program, which has no enclave yet.
  func program(adding variables: [String: String] = [:]) throws -> EmbeddedProgram {
    try program(as: user, adding: variables)
  }

  func program(as user: uid_t?, adding variables: [String: String] = [:]) throws -> EmbeddedProgram {
    EmbeddedProgram(
      try RunningProgram(
        BuiltPrograms.path("embedded-probe"), environment: environment.merging(variables) { $1 }, user: user))
  }

  /// Starts it, and the enclave.
  func started() async throws -> EmbeddedProgram {
    let program = try program()
    let said = try await program.tell("start \(folder.path)")
    guard said == "started" else { throw WorldError("the enclave did not start: \(said)") }
    return program
  }

  /// Enrols a finger, with the passcode where it is asked for.
  /// - Returns: what the program said at last.
  func enroll(_ finger: SyntheticFinger, with program: EmbeddedProgram, as name: String = "right-index-finger")
    async throws -> String
  {
    try program.order("enroll \(name)")
    var touches = 0
    while true {
      let line = try await program.line()
      if line.hasPrefix("step ready") || line == "step touched" {
        touches += 1
        try await reader.press(finger, touches)
      } else if !line.hasPrefix("step "), !line.hasPrefix("asked ") {
        return line
      }
    }
  }
}

/// The program of an ``EmbeddedScene``, whose lines are read one by one.
actor EmbeddedProgram {
  nonisolated let program: RunningProgram
  private var seen = 0

  init(_ program: RunningProgram) { self.program = program }

  nonisolated func order(_ command: String) throws { try program.write(command + "\n") }

  /// The next line that it says.
  func line() async throws -> String {
    let bytes = Array(try await program.waitFor("\n", skipping: seen).utf8).dropFirst(seen)
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    seen += line.count + 1
    return String(decoding: line, as: UTF8.self)
  }

  /// Has it do something, and gives what it says of that.
  func tell(_ command: String) async throws -> String {
    try order(command)
    return try await line()
  }

  /// All processes that came from it, by name.
  nonisolated func descendants() throws -> [Descendant] {
    var children: [pid_t: [pid_t]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
      guard let pid = pid_t(name), let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
        let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 1,
        let parent = pid_t(fields[1])
      else { continue }
      children[parent, default: []].append(pid)
    }
    var found: [Descendant] = []
    var waiting = children[program.pid] ?? []
    while let pid = waiting.popLast() {
      let name = (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) ?? ""
      found.append(Descendant(name.trimmingCharacters(in: .newlines), pid))
      waiting += children[pid] ?? []
    }
    return found
  }
}

/// A process whose end can be waited for, whoever reaps it.
final class Descendant: Sendable {
  let name: String
  private let pid: pid_t
  private let process: Int32

  init(_ name: String, _ pid: pid_t) {
    self.name = name
    self.pid = pid
    process = cposix_pidfd_open(pid)
  }

  deinit { if process >= 0 { close(process) } }

  func signal(_ number: Int32) { kill(pid, number) }

  /// Waits for its end; false where that does not come.
  func ends() async throws -> Bool {
    let process = process
    return try await offPool {
      var entry = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
      return process < 0 || poll(&entry, 1, 30_000) > 0
    }
  }
}
