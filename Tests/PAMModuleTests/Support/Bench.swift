import Foundation
import TestKit

/// One step of fake_whorl.py: see there.
struct Step: Sendable {
  fileprivate let json: String

  private init(_ parts: Any...) {
    // Plain strings, numbers, arrays and dictionaries always encode.
    let data = try? JSONSerialization.data(withJSONObject: parts)
    json = data.map { String(decoding: $0, as: UTF8.self) } ?? "[\"bad step\"]"
  }

  /// The steps as fake_whorl.py's argument.
  static func script(_ steps: [Step]) -> String { "[" + steps.map(\.json).joined(separator: ",") + "]" }

  static func progress(_ event: String, _ details: [String: Any] = [:]) -> Step { Step("progress", event, details) }
  static func rawProgress(_ signature: String, _ arguments: Any...) -> Step {
    Step("raw-progress", signature, arguments)
  }
  static func impostor(_ event: String, _ details: [String: Any] = [:]) -> Step { Step("impostor", event, details) }
  static func impostorReply(_ finger: String) -> Step { Step("impostor-reply", finger) }
  static func flood(_ count: Int) -> Step { Step("flood", count) }
  static func wait(milliseconds: Int) -> Step { Step("wait", milliseconds) }
  static func reply(_ finger: String = "right-index-finger") -> Step { Step("reply", finger) }
  static func rawReply(_ signature: String, _ arguments: Any...) -> Step { Step("raw-reply", signature, arguments) }
  static func error(_ name: String) -> Step { Step("error", name, "A text that nobody may show.") }
  static var die: Step { Step("die") }
}

/// What is missing or went wrong around a test, in one line.
struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A private bus, a folder of PAM service files and the programs that use both; all gone with the last reference.
struct Bench: Sendable {
  let folder: TemporaryFolder
  let address: String
  /// Runs while the bench is there.
  private let bus: RunningProgram

  /// The environment that tests give to programs: nothing of the caller's own.
  static let plainEnvironment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"]

  /// Starts the bus of pam/tests/bus.conf and waits until it listens.
  ///
  /// - Parameter activatable: the steps of a fake whorld that the bus starts when it is asked for.
  init(activatable: [Step]? = nil) async throws {
    folder = try TemporaryFolder(open: true)
    let template = try String(contentsOfFile: Bench.tool("bus.conf"), encoding: .utf8)
    let configuration = try folder.write(
      template.replacingOccurrences(of: "@FOLDER@", with: folder.path), to: "bus.conf")
    try folder.makeFolder("services", mode: 0o755)
    try folder.makeFolder("pam.d", mode: 0o755)
    // Other users must reach it, wherever the project lies.
    try ProgramFile.copy(Bench.builtModule(), to: folder("pam_whorl.so"))
    address = "unix:path=\(folder("bus"))"
    if let activatable {
      let script = try folder.writeProgram(
        """
        #!/bin/sh
        DBUS_SYSTEM_BUS_ADDRESS=\(address) exec \(Bench.tool("fake_whorl.py")) --stay '\(Step.script(activatable))'
        """, to: "start")
      try folder.write("[D-BUS Service]\nName=org.whorl\nExec=\(script)\n", to: "services/org.whorl.service")
    }
    bus = try RunningProgram(
      "/usr/bin/dbus-daemon", ["--config-file=\(configuration)", "--nofork", "--print-address=1"],
      environment: Bench.plainEnvironment, input: "")
    try await bus.waitFor("\n")
    chmod(folder("bus"), 0o777)
  }

  /// The top folder of the project.
  static let projectFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// A helper of pam/tests.
  static func tool(_ name: String) -> String { projectFolder + "/pam/tests/" + name }

  /// The module under test. It must be there: a test that skips proves nothing.
  static func builtModule() throws -> String {
    let path = ProcessInfo.processInfo.environment["WHORL_PAM_MODULE"] ?? projectFolder + "/build/pam_whorl.so"
    guard access(path, R_OK) == 0 else { throw BenchError("\(path) is not built; run make build/pam_whorl.so") }
    return path
  }

  /// The environment of programs that use the bus.
  var environment: [String: String] {
    Bench.plainEnvironment.merging(["DBUS_SYSTEM_BUS_ADDRESS": address]) { $1 }
  }

  /// Starts a fake whorld that answers every call with `steps`, and waits until it is on the bus. It ends with the
  /// reference.
  ///
  /// - Parameter user: the user ID that it runs as.
  func startWhorld(_ steps: [Step], user: UInt32? = nil) async throws -> RunningProgram {
    let arguments = [Bench.tool("fake_whorl.py")] + (user.map { ["--uid", "\($0)"] } ?? [])
    let whorld = try RunningProgram(
      "/usr/bin/python3", arguments + [Step.script(steps)], environment: environment)
    try await whorld.waitFor("ready\n")
    return whorld
  }

  /// Runs `body` with a fake whorld that answers every call with `steps`.
  func withWhorld<R: Sendable>(
    _ steps: [Step], user: UInt32? = nil, _ body: () async throws -> R
  ) async throws -> R {
    let whorld = try await startWhorld(steps, user: user)
    let result = try await body()
    whorld.closeInput()
    _ = try await whorld.wait()
    return result
  }

  /// The bench's own copy of the module.
  var module: String { folder("pam_whorl.so") }

  /// Writes the PAM service "whorl-test" with the module alone in it.
  func writeService(options: String = "timeout=2", control: String = "required") throws {
    try folder.write("auth \(control) \(module) \(options)\n", to: "pam.d/whorl-test")
  }

  // MARK: pamtester

  /// The words with which pamtester ends.
  enum Word {
    static let granted = "successfully authenticated"
    static let credentials = "credential info has successfully been set."
    static let wrong = "Authentication failure"
    static let unavailable = "Authentication service cannot retrieve authentication info"
    static let unknownUser = "User not known to the underlying authentication module"
  }

  /// What pamtester says at the end of an authentication through pam_wrapper. The caller holds PamWrapperLock.
  func pamtester(
    service: String = "whorl-test", user: String = "root", operations: [String] = ["authenticate"],
    environment: [String: String]? = nil
  ) async throws -> String {
    var environment = environment ?? self.environment
    environment["LD_PRELOAD"] = try Bench.pamWrapper()
    environment["PAM_WRAPPER"] = "1"
    environment["PAM_WRAPPER_SERVICE_DIR"] = folder("pam.d")
    let ended = try await RunningProgram.run(
      "/usr/bin/pamtester", [service, user] + operations, environment: environment)
    // pam_wrapper and libpam write to the same place.
    let lines = (ended.text + ended.errorText).split(separator: "\n").filter { $0.hasPrefix("pamtester: ") }
    let word = lines.last.map { String($0.dropFirst("pamtester: ".count)) } ?? ended.errorText
    // Its own status must say the same, or the words are not to be trusted.
    return (ended.status == 0) == (word == Word.granted || word == Word.credentials) ? word : "\(ended.end): \(word)"
  }

  /// A file of Debian's libpam-wrapper, by its name below the folder of this machine's libraries.
  static func pamWrapper(_ name: String = "libpam_wrapper.so") throws -> String {
    for folder in try FileManager.default.contentsOfDirectory(atPath: "/usr/lib") {
      let path = "/usr/lib/\(folder)/\(name)"
      if access(path, R_OK) == 0 { return path }
    }
    throw BenchError("\(name) is not installed; run apt-get install libpam-wrapper")
  }

  // MARK: pam_host

  /// Builds pam_host into the bench's folder and gives its path.
  func buildHost() async throws -> String {
    let host = folder("pam_host")
    if access(host, X_OK) == 0 { return host }
    let arguments = ["-std=c17", "-O1", "-Wall", "-Wextra", "-Werror", "-o", host, Bench.tool("pam_host.c"), "-lpam"]
    let built = try await RunningProgram.run("/usr/bin/cc", arguments)
    guard built.status == 0 else { throw BenchError("pam_host.c does not compile: \(built.errorText)") }
    return host
  }

  /// The lines that pam_host prints for one authentication of `user` through "whorl-test", and after them whatever
  /// else was written.
  func host(
    _ options: [String] = [], service: String = "whorl-test", user: String? = "root",
    environment: [String: String]? = nil, runAs identity: UInt32? = nil
  ) async throws -> [String] {
    let program = try await buildHost()
    let output = try folder.write("", to: "lines", mode: 0o666)
    let ended = try await RunningProgram.run(
      program, options + ["--out=\(output)", folder("pam.d"), service] + (user.map { [$0] } ?? []),
      environment: environment ?? self.environment, user: identity)
    let lines = try String(contentsOfFile: output, encoding: .utf8) + ended.text + ended.errorText
    return lines.split(separator: "\n").map(String.init) + (ended.status == 0 ? [] : ["\(ended.end)"])
  }
}
