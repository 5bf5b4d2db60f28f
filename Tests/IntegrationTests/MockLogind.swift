import Bus
import GLibLoop
import TestKit

/// python3-dbusmock's logind on a world's bus, and what a test has it do.
@GLibActor
final class MockLogind {
  private static let name = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let mock = "org.freedesktop.DBus.Mock"

  let program: RunningProgram
  private let bus: BusConnection
  private let world: World

  /// - Parameter parameters: the template's, as JSON.
  init(_ world: World, parameters: String = "{}") async throws {
    self.world = world
    program = try RunningProgram(
      "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "logind", "--parameters", parameters],
      environment: [
        "DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "TMPDIR": world.bus.temporaryFolder, "PATH": "/usr/bin:/bin",
      ], input: "")
    try await world.bus.waitForName(Self.name)
    bus = try await BusConnection.open(address: world.bus.address)
  }

  private func call(
    _ method: String, _ arguments: [BusValue], at path: String = path, of interface: String = mock
  ) async throws {
    _ = try await bus.call(
      destination: Self.name, path: path, interface: interface, method: method, arguments: arguments)
  }

  /// Says that the machine is about to sleep, or has woken.
  func prepareForSleep(_ sleeps: Bool) async throws {
    let manager = "org.freedesktop.login1.Manager"
    try await call(
      "UpdateProperties", [.string(manager), .options(["PreparingForSleep": .boolean(sleeps)])])
    try await call(
      "EmitSignal",
      [
        .string(manager), .string("PrepareForSleep"), .string("b"),
        .array(element: "v", [.variant(.boolean(sleeps))]),
      ])
  }

  /// Adds a session of that user on the one seat.
  func addSession(_ id: String, user: UInt32, active: Bool) async throws {
    try await call(
      "AddSession", [.string(id), .string("seat0"), .uint32(user), .string("user\(user)"), .boolean(active)])
  }

  /// Changes what a session is said to be.
  func update(_ session: String, _ values: [String: BusValue]) async throws {
    try await call(
      "UpdateProperties", [.string("org.freedesktop.login1.Session"), .options(values)],
      at: "/org/freedesktop/login1/session/\(session)")
  }

  /// Closes or opens the lid.
  func closeLid(_ isClosed: Bool) async throws {
    let manager = "org.freedesktop.login1.Manager"
    try await call(
      "EmitSignal",
      [
        .string("org.freedesktop.DBus.Properties"), .string("PropertiesChanged"), .string("sa{sv}as"),
        .array(
          element: "v",
          [
            .variant(.string(manager)), .variant(.options(["LidClosed": .boolean(isClosed)])), .variant(.strings([])),
          ]),
      ])
  }

  /// Ends a session.
  func end(_ session: String) async throws {
    let path = "/org/freedesktop/login1/session/\(session)"
    try await call("RemoveObject", [.string(path)])
    try await call(
      "EmitSignal",
      [
        .string("org.freedesktop.login1.Manager"), .string("SessionRemoved"), .string("so"),
        .array(element: "v", [.variant(.string(session)), .variant(.objectPath(path))]),
      ])
  }

  /// Has logind find programs in their sessions: those that ``place(_:in:)`` names.
  func knowPrograms() async throws {
    let folder = try world.folder.makeFolder("sessions")
    try await call(
      "AddMethod",
      [
        .string("org.freedesktop.login1.Manager"), .string("GetSessionByPID"), .string("u"), .string("o"),
        .string("ret = '/org/freedesktop/login1/session/' + open('\(folder)/%d' % args[0]).read()"),
      ])
  }

  /// Has logind find programs among users' services: those that ``place(_:amongServicesOf:)`` names.
  func knowServices() async throws {
    let folder = try world.folder.makeFolder("services")
    try await call(
      "AddMethod",
      [
        .string("org.freedesktop.login1.Manager"), .string("GetUserByPID"), .string("u"), .string("o"),
        .string("ret = '/org/freedesktop/login1/user/' + open('\(folder)/%d' % args[0]).read()"),
      ])
  }

  /// Puts a program among a user's services, in no session; to be said before whorld meets it.
  nonisolated func place(_ program: RunningProgram, amongServicesOf user: UInt32) throws {
    try world.folder.write("\(user)", to: "services/\(program.pid)")
  }

  /// Puts a program into a session; to be said before whorld meets it.
  nonisolated func place(_ program: RunningProgram, in session: String) throws {
    try world.folder.write(session, to: "sessions/\(program.pid)")
  }
}

/// Scripts/fprint-device.py: a client of net.reactivated.Fprint that does what the test says.
struct FprintClient {
  let program: RunningProgram

  /// - Parameter number: the reader's, in the order of the object paths.
  init(_ world: World, reader number: Int = 0) async throws {
    program = try RunningProgram(
      "/usr/bin/python3", [SourceTree.path("Tests/IntegrationTests/Scripts/fprint-device.py"), "\(number)"],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": world.bus.address, "PATH": "/usr/bin:/bin"])
    try await program.waitFor("ready")
  }

  /// Where the output ends now.
  var position: Int { program.text().utf8.count }

  /// Says a word without waiting for what comes of it.
  func say(_ words: String) throws { try program.write(words + "\n") }

  /// Says a word and waits for its answer; fails the test's wait where that is an error.
  @discardableResult
  func ask(_ words: String) async throws -> String {
    var seen = position
    try say(words)
    let word = String(words.prefix { $0 != " " })
    while true {
      let bytes = Array(try await program.waitFor("\n", skipping: seen).utf8)
      guard let end = bytes[seen...].firstIndex(of: UInt8(ascii: "\n")) else { continue }
      let line = String(decoding: bytes[seen..<end], as: UTF8.self)
      seen = end + 1
      let parts = line.split(separator: " ", maxSplits: 2)
      guard parts.count > 1, parts[1] == word else { continue }
      if parts[0] == "ok" { return line }
      if parts[0] == "error" { throw WorldError("\(words): \(line)") }
    }
  }

  /// Waits for these words after that position.
  func waitFor(_ words: String, after seen: Int) async throws { try await program.waitFor(words, skipping: seen) }
}
