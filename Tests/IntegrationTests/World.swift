import Foundation
import GLibLoop
import Glibc
import Synchronization
import TestKit

/// whorld with its bridge on a virtual image reader, a bus, a polkit and a state folder of its own.
final class World: Sendable {
  static let passcode = "correct passcode"

  let bus: PrivateBus
  let polkit: PolkitMock?
  let folder: TemporaryFolder
  let reader: VirtualReader
  /// The same place where the reader is one that takes commands.
  let device: VirtualDevice
  private let readerSocket: String
  private let kind: Kind
  /// Kept: a program ends with its last reference.
  private let kept = Mutex<[any Sendable]>([])
  /// Accounts of the test's own for whorld and whorl, through nss_wrapper; nil: the machine's.
  private let accounts: String?
  private let accountChanges = Mutex(0)

  /// The virtual readers of libfprint.
  enum Kind: String {
    /// An image sensor, with matching on the host.
    case image = "virtual_image"
    /// One that takes commands, without storage of its own.
    case device = "virtual_device"
    /// One that takes commands, with storage of its own.
    case storage = "virtual_device_storage"
  }

  /// - Parameters:
  ///   - kind: which virtual reader there is.
  ///   - polkit: what polkit answers; nil leaves polkit out.
  ///   - accounts: the accounts there are besides root, by name; nil: the machine's.
  ///   - underPolicy: whether the bus allows what the system bus does with Whorl's own policy, and no more.
  init(
    _ kind: Kind = .image, polkit answer: PolkitMock.Answer? = .allow,
    accounts names: KeyValuePairs<String, UInt32>? = nil, underPolicy: Bool = false
  ) async throws {
    // Before anybody hops to GLibActor, which nobody would run.
    GLibLoop.startThread()
    bus = try await PrivateBus(policy: underPolicy ? SourceTree.path("data/dbus/org.whorl.conf") : nil)
    folder = try TemporaryFolder(open: true)
    try folder.makeFolder("state")
    readerSocket = folder("finger")
    reader = VirtualReader(socket: readerSocket)
    device = VirtualDevice(socket: readerSocket)
    self.kind = kind
    accounts = names == nil ? nil : folder("passwd")
    polkit = if let answer { try await PolkitMock(bus: bus, answer: answer) } else { nil }
    if let names {
      try folder.write("root:x:0:\nusers:x:100:\n", to: "group")
      try setAccounts(names)
    }
  }

  /// The state folder: prints in fprintd's layout.
  var state: String { folder("state") }

  /// Gives the users of these names a passcode of their own, through pam_wrapper's pam_matrix.
  func setPasscode(of users: [String] = ["root"]) throws { try Self.setPasscode(of: users, in: folder) }

  static func setPasscode(of users: [String], in folder: TemporaryFolder) throws {
    try folder.makeFolder("state/.whorl/pam.d")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder("state/.whorl"))
    try folder.write(
      users.map { "\($0):\(passcode):whorl-passcode\n" }.joined(), to: "state/.whorl/passdb", mode: 0o600)
    let module = "/usr/lib/\(try multiarch())/pam_wrapper/pam_matrix.so"
    try folder.write(
      "auth required \(module) passdb=\(folder("state/.whorl/passdb"))\naccount required \(module) "
        + "passdb=\(folder("state/.whorl/passdb"))\n", to: "state/.whorl/pam.d/whorl-passcode")
  }

  /// Gives whorld and whorl these accounts besides root from now on.
  func setAccounts(_ names: KeyValuePairs<String, UInt32>) throws {
    let lines = names.map { "\($0.key):x:\($0.value):100::/nonexistent:/bin/false\n" }.joined()
    let path = try folder.write("root:x:0:0::/root:/bin/sh\n" + lines, to: "passwd.new")
    // nss_wrapper looks at the time of the file, in seconds.
    let seconds = accountChanges.withLock { count in
      count += 1
      return 1_000_000_000 + 10 * count
    }
    var times = [timeval(tv_sec: seconds, tv_usec: 0), timeval(tv_sec: seconds, tv_usec: 0)]
    guard utimes(path, &times) == 0, rename(path, folder("passwd")) == 0 else {
      throw WorldError("the accounts could not be written")
    }
  }

  private var accountEnvironment: [String: String] {
    guard let accounts else { return [:] }
    return [
      "LD_PRELOAD": "libnss_wrapper.so", "NSS_WRAPPER_PASSWD": accounts, "NSS_WRAPPER_GROUP": folder("group"),
    ]
  }

  static func multiarch() throws -> String {
    let folders = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib").filter { $0.hasSuffix("-linux-gnu") }
    return try folders.first { FileManager.default.fileExists(atPath: "/usr/lib/\($0)/security") }
      ?? { throw WorldError("no folder of PAM modules below /usr/lib") }()
  }

  // MARK: whorld

  /// whorld's environment in private mode on the virtual image reader.
  var environment: [String: String] {
    [
      "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "STATE_DIRECTORY": state,
      "FP_" + kind.rawValue.uppercased(): readerSocket,
      "FP_DRIVERS_WHITELIST": kind.rawValue, "FP_DRIVERS_ALLOWLIST": kind.rawValue, "PATH": "/usr/bin:/bin",
    ].merging(accountEnvironment) { old, _ in old }
  }

  /// Starts whorld and waits until it has its names.
  @discardableResult
  func startDaemon(_ program: String? = nil, adding variables: [String: String] = [:]) async throws -> RunningProgram {
    let daemon = try RunningProgram(
      program ?? BuiltPrograms.path("whorld"), environment: environment.merging(variables) { $1 }, input: "")
    keep(daemon)
    try await bus.waitForName("net.reactivated.Fprint")
    return daemon
  }

  /// Has something, such as a program, live as long as the world does.
  func keep(_ thing: some Sendable) { kept.withLock { $0.append(thing) } }

  /// The bridge's pid, once whorld has one.
  func bridge(of daemon: RunningProgram) throws -> pid_t {
    guard let first = try bridges(of: daemon).first else { throw WorldError("whorld has no bridge") }
    return first
  }

  /// The pids of all bridges that whorld has.
  func bridges(of daemon: RunningProgram) throws -> [pid_t] {
    var found: [pid_t] = []
    let children = try String(contentsOfFile: "/proc/\(daemon.pid)/task/\(daemon.pid)/children", encoding: .utf8)
    let others = try Self.threads(of: daemon.pid).flatMap { thread in
      try String(contentsOfFile: "/proc/\(daemon.pid)/task/\(thread)/children", encoding: .utf8).split(separator: " ")
    }
    for word in children.split(separator: " ") + others {
      guard let pid = pid_t(word), let name = try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8),
        name.hasPrefix("whorl-reader"), !found.contains(pid)
      else { continue }
      found.append(pid)
    }
    return found
  }

  private static func threads(of pid: pid_t) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
  }

  // MARK: The command

  /// Starts `whorl` with these arguments on the private bus.
  func start(
    _ arguments: [String], input: String? = "", user: UInt32? = nil, adding variables: [String: String] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      BuiltPrograms.path("whorl"), arguments, environment: commandEnvironment.merging(variables) { $1 }, input: input,
      user: user)
  }

  /// Starts `whorl` on a terminal of its own: what it shows comes out as standard output, and what is written to it is
  /// typed. Type only what was asked for.
  func startOnTerminal(
    _ arguments: [String], user: UInt32? = nil, adding variables: [String: String] = [:]
  ) throws -> RunningProgram {
    let script = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
    return try RunningProgram(
      "/usr/bin/python3", ["-c", script, BuiltPrograms.path("whorl")] + arguments,
      environment: commandEnvironment.merging(variables) { $1 },
      user: user)
  }

  /// Runs `whorl` on a terminal and types these answers, each when its question comes. Name the question itself, and not what
  /// is said before it: what is typed before a question is dropped.
  @discardableResult
  func onTerminal(
    _ arguments: [String], _ answers: KeyValuePairs<String, String>
  ) async throws -> (status: Int32, text: String) {
    let program = try startOnTerminal(arguments)
    var seen = 0
    for (question, answer) in answers {
      seen = Array(try await program.waitFor(question, skipping: seen).utf8).count
      try program.write(answer + "\n")
    }
    let result = try await program.wait()
    return (result.status ?? -1, result.text)
  }

  private var commandEnvironment: [String: String] {
    ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PATH": "/usr/bin:/bin"].merging(accountEnvironment) { old, _ in old }
  }

  /// Runs `whorl` to its end, pressing these fingers, one at each line that asks for a touch.
  func whorl(
    _ arguments: [String], pressing fingers: [FingerImage], input: String = "", user: UInt32? = nil
  ) async throws -> RunningProgram.Result {
    let program = try start(arguments, input: input, user: user)
    try await answer(program, with: fingers)
    return try await program.wait()
  }

  /// Runs `whorl` to its end without any touch.
  func whorl(_ arguments: [String], to input: String = "", user: UInt32? = nil) async throws -> RunningProgram.Result {
    try await start(arguments, input: input, user: user).wait()
  }

  /// Presses these fingers, one at each line on standard error or output that asks for a touch.
  func answer(_ program: RunningProgram, with fingers: [FingerImage], in stream: RunningProgram.Stream = .errors)
    async throws
  {
    var seen = 0
    for finger in fingers {
      seen = try await nextPrompt(program, after: seen, in: stream)
      try await reader.press(finger)
    }
  }

  /// Waits for the next whole line after the first `seen` bytes that asks for a touch, and gives where it ends.
  func nextPrompt(_ program: RunningProgram, after seen: Int, in stream: RunningProgram.Stream = .errors)
    async throws -> Int
  {
    var position = seen
    while true {
      let bytes = Array(try await program.waitFor("\n", in: stream, skipping: position).utf8)
      guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else { continue }
      let line = String(decoding: bytes[position..<end], as: UTF8.self).lowercased()
      position = end + 1
      if ["touch", "swipe", "press"].contains(where: line.contains) { return position }
    }
  }

  /// Enrols a finger through `whorl enroll`, six touches and one to confirm, and lets it open secrets.
  /// - Parameter adopting: false: it opens logins alone, as one that was enrolled without the passcode.
  @discardableResult
  func enroll(
    _ finger: SyntheticFinger, as name: String = "right-index-finger", user: UInt32? = nil, adopting: Bool = true
  ) async throws -> RunningProgram.Result {
    let result = try await whorl(["enroll", name], pressing: (1...7).map { finger.press($0) }, user: user)
    guard result.status == 0 else { throw WorldError("whorl enroll ended with \(result.end):\n\(result.errorText)") }
    if adopting { try await adopt(user: user) }
    return result
  }

  /// Lets a user's enrolled fingers open secrets, with the passcode, which is there for that moment where there is none.
  func adopt(user: UInt32? = nil) async throws {
    let folder = state + "/.whorl"
    let before = try? String(contentsOfFile: folder + "/passdb", encoding: .utf8)
    let name = try name(of: user ?? 0)
    try setPasscode(of: [name])
    let program = try startOnTerminal(["adopt"], user: user)
    try await program.waitFor("to let them open your secrets: ")
    try program.write(Self.passcode + "\n")
    let result = try await program.wait()
    guard result.status == 0 else { throw WorldError("whorl adopt ended with \(result.end):\n\(result.text)") }
    if let before {
      try self.folder.write(before, to: "state/.whorl/passdb", mode: 0o600)
    } else {
      for file in ["passdb", "pam.d"] { try FileManager.default.removeItem(atPath: "\(folder)/\(file)") }
    }
  }

  private func name(of user: UInt32) throws -> String {
    if let accounts {
      for line in try String(contentsOfFile: accounts, encoding: .utf8).split(separator: "\n") {
        let fields = line.split(separator: ":", omittingEmptySubsequences: false)
        if fields.count > 2, fields[2] == String(user) { return String(fields[0]) }
      }
    }
    guard let entry = getpwuid(user) else { throw WorldError("uid \(user) has no name") }
    return String(cString: entry.pointee.pw_name)
  }
}

struct WorldError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
