import Bus
import ChildProcess
import EmbeddedLink
import GLibLoop
import Glibc

/// Starts the enclave, keeps it for as long as the program is there, and takes everything away again.
@GLibActor
final class Keeper {
  /// So many milliseconds the bus and whorld may take to be there, and to end.
  static let patience = 60_000
  private static let patienceWithEnd = 5_000

  private enum End {
    /// The program is gone, lets us go, or somebody has ended us.
    case wanted
    /// The start failed.
    case failed(StartFailure)
    /// A part is gone.
    case lost
  }

  let order: Order
  private let desk = EventDesk()
  private var folder: BusFolder?
  private var busDaemon: Child?
  private var daemon: Child?
  private var agent: Child?
  private var bus: BusConnection?
  private var registrations: [BusRegistration] = []
  private var isReady = false
  private var isEnding = false

  init(_ order: Order) { self.order = order }

  /// - Returns: the exit status.
  func run() async -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
    let (ends, ended) = AsyncStream.makeStream(of: End.self)
    let signals = UnixSignals([SIGTERM, SIGINT, SIGHUP])
    let parent = getppid()
    let life = FDWatch(descriptor: STDIN_FILENO, for: .readable) { _ in ended.yield(.wanted) }
    let listening = Task { @GLibActor in
      for await _ in signals.arrivals { ended.yield(.wanted) }
    }
    let starting = Task { @GLibActor in
      do throws(StartFailure) {
        // Until then the start itself says what is amiss.
        let address = try await start(parent) { [weak self] in if self?.isReady == true { ended.yield(.lost) } }
        isReady = true
        if daemon?.hasEnded != false || busDaemon?.hasEnded != false { ended.yield(.lost) }
        say(.ready(address: address))
      } catch { ended.yield(.failed(error)) }
    }
    var iterator = ends.makeAsyncIterator()
    let end = await iterator.next() ?? .wanted
    life.cancel()
    listening.cancel()
    starting.cancel()
    await stop()
    switch end {
    case .wanted: return 0
    case .lost: return 1
    case .failed(let failure):
      say(.failed(failure.failure, failure.text))
      return 1
    }
  }

  private func say(_ start: EmbeddedLink.Start) {
    let line = start.line
    _ = write(STDOUT_FILENO, line, line.utf8.count)
    // One line is all: whoever reads it may wait for its end.
    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
    if nothing > STDERR_FILENO {
      dup2(nothing, STDOUT_FILENO)
      close(nothing)
    }
  }

  private func stop() async {
    isEnding = true
    await agent?.end(within: Self.patienceWithEnd)
    await daemon?.end(within: Self.patienceWithEnd)
    for registration in registrations { registration.unregister() }
    await busDaemon?.end(within: Self.patienceWithEnd)
    folder?.remove()
  }

  // MARK: The start

  private func start(_ parent: pid_t, lost: @escaping @GLibActor () -> Void) async throws(StartFailure) -> String {
    let lock = try await FolderLock.take(order.folder)
    let folder = try BusFolder()
    self.folder = folder
    try check()
    let log = try DaemonLog(order.folder)
    let address = try await startBus(folder, log, lost)
    let bus: BusConnection
    do throws(BusError) {
      bus = try await BusConnection.open(address: address)
      self.bus = bus
      registrations.append(
        try bus.export(
          path: PolkitFace.path, interfaceXML: PolkitFace.interfaceXML, interface: PolkitFace.interface,
          handler: PolkitFace()))
      try await bus.requestName(PolkitFace.name)
    } catch {
      throw StartFailure(.cannotStart, "The enclave's bus cannot be used: \(error)")
    }
    try check()
    try await startDaemon(bus, address, lock, log, lost)
    try await offerFaces(bus, address, parent)
    if !order.asks { startDesktopAgent(address) }
    return address
  }

  /// Starts nothing more once the end has begun.
  private func check() throws(StartFailure) {
    if isEnding { throw StartFailure(.cancelled, "The enclave was ended.") }
  }

  private func startBus(
    _ folder: BusFolder, _ log: DaemonLog, _ lost: @escaping @GLibActor () -> Void
  ) async throws(StartFailure) -> String {
    let program = "/usr/bin/dbus-daemon"
    guard access(program, X_OK) == 0 else {
      throw StartFailure(.cannotStart, "\(program) is missing; install the package dbus-daemon.")
    }
    let output = try OutputPipe()
    busDaemon = try Child(
      program,
      ["--config-file=\(folder.configuration)", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"],
      environment: ["PATH": "/usr/bin:/bin"], descriptors: [.duplicate(output.writeEnd), .duplicate(log.file)],
      ended: lost)
    guard let address = await output.firstLine() else {
      throw StartFailure(.cannotStart, "\(program) did not start: \(log.lastLine) (all of it: \(log.path))")
    }
    return address
  }

  private func startDaemon(
    _ bus: BusConnection, _ address: String, _ lock: FolderLock, _ log: DaemonLog,
    _ lost: @escaping @GLibActor () -> Void
  ) async throws(StartFailure) {
    let program = order.programs + "/whorld"
    let (news, told) = AsyncStream.makeStream(of: Bool.self)
    let comings: BusSubscription
    do throws(BusError) {
      // The last name that it takes.
      comings = try bus.subscribe(
        sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged", firstArgument: "net.reactivated.Fprint"
      ) { signal in
        if let owner = signal.arguments.last?.asString, !owner.isEmpty { told.yield(true) }
      }
      // The subscription is in force once this is answered.
      _ = try await bus.owner(of: "net.reactivated.Fprint")
    } catch {
      throw StartFailure(.cannotStart, "The enclave cannot be started: \(error)")
    }
    defer { comings.cancel() }
    daemon = try Child(
      program, environment: DaemonEnvironment.make(address: address, folder: order.folder),
      // The lock goes on until whorld has ended, should this process be killed.
      descriptors: [.nothing, .duplicate(log.file), .duplicate(lock.file)],
      ended: {
        told.yield(false)
        lost()
      })
    let limit = Task { @GLibActor in
      do { try await glibSleep(milliseconds: Self.patience) } catch { return }
      told.yield(false)
    }
    defer { limit.cancel() }
    var iterator = news.makeAsyncIterator()
    guard await iterator.next() == true else {
      throw StartFailure(.cannotStart, "whorld did not start: \(log.lastLine) (all of it: \(log.path))")
    }
  }

  private func offerFaces(_ bus: BusConnection, _ address: String, _ parent: pid_t) async throws(StartFailure) {
    let fingers = FingerWork(address: address, desk: desk)
    do throws(BusError) {
      registrations.append(
        try bus.export(
          path: EmbeddedLink.path, interfaceXML: EmbeddedLink.interfaceXML, interface: EmbeddedLink.interface,
          handler: EmbeddedFace(bus: bus, desk: desk, fingers: fingers, parent: parent)))
      try await bus.requestName(EmbeddedLink.name)
      guard order.asks else { return }
      guard let owner = try await bus.owner(of: "org.whorl") else { throw BusError.failed("whorld is gone") }
      registrations.append(
        try bus.export(
          path: PassingAgent.path, interfaceXML: agentInterfaceXML(), interface: PassingAgent.interface,
          handler: PassingAgent(desk: desk, daemon: owner)))
      _ = try await bus.call(
        destination: owner, path: "/org/whorl", interface: "org.whorl.Authentication1", method: "RegisterAgent",
        arguments: [.options([:])], options: .noAutoStart)
    } catch {
      throw StartFailure(.cannotStart, "The enclave cannot be used: \(error)")
    }
  }

  /// Where there is a desktop, and a command to ask there, it asks; without, whoever needs a passcode is refused.
  private func startDesktopAgent(_ address: String) {
    let program = order.programs + "/whorl"
    let environment = ProcessEnvironment.variables
    guard !isEnding, access(program, X_OK) == 0,
      environment["DISPLAY"] ?? environment["WAYLAND_DISPLAY"] != nil
    else { return }
    agent = try? Child(
      program, ["agent"], environment: environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": address]) { $1 },
      descriptors: [.nothing, .nothing], ended: {})
  }
}
