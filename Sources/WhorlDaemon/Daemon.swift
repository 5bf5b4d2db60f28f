internal import Bus
internal import CInterfaces
internal import ChildProcess
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain
internal import PrintStore
internal import ReaderKeeper
internal import ReaderLink
internal import ReleaseLog
internal import SecretMemory

/// whorld: the enclave and the readers, on the bus.
public enum Daemon {
  /// Runs until SIGTERM, SIGINT or the loss of the bus or of its names.
  ///
  /// - Returns: the process's exit status: 0 after SIGTERM or SIGINT.
  @GLibActor
  public static func run() async -> Int32 {
    do {
      try CoreDumps.forbid()
    } catch {
      Log.failure("core dumps cannot be forbidden: \(error)")
      return 1
    }
    // Children get their descriptors by number: 0 to 2 must not become one of ours.
    var lowest = open("/dev/null", O_RDWR)
    while (0...2).contains(lowest) { lowest = dup(lowest) }
    if lowest > 2 { close(lowest) }
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
    guard let programFolder = Surroundings.folderOfThisProgram() else {
      Log.failure("/proc/self/exe cannot be read; is /proc mounted?")
      return 1
    }
    let surroundings: Surroundings
    do {
      surroundings = try Surroundings(environment: ProcessEnvironment.variables, programFolder: programFolder)
      try surroundings.prepareFoldersForStart()
    } catch {
      Log.failure(error.line)
      return 1
    }
    if let remark = surroundings.remark { Log.warning(remark) }
    do {
      return try await serve(surroundings)
    } catch {
      Log.failure("\(error)")
      return 1
    }
  }

  @GLibActor
  private static func serve(_ surroundings: Surroundings) async throws(BusError) -> Int32 {
    let signals = UnixSignals([SIGTERM, SIGINT])
    let bus = try await BusConnection.open(address: surroundings.busAddress)
    bus.onFault = { Log.failure($0) }
    let bridges = ReaderBridges(surroundings)
    let homes = HomeLock(root: surroundings.isPrivate ? surroundings.stateFolder + "/root" : "")
    let accounts = AccountDirectory(source: AccountDirectory.Source(homeState: { homes.state(of: $0) }))
    let hall = ReaderHall(
      bridges: bridges, store: PrintStore(root: surroundings.printFolder),
      lostPrints: PrintStore(root: surroundings.stateFolder + "/chip-lost"),
      owners: PrintOwners(root: surroundings.stateFolder + "/print-owners"), accounts: accounts,
      allowsVirtualReaders: surroundings.isPrivate, places: ReaderPlaces(surroundings),
      arrivalLimits: surroundings.arrivalLimits)
    let sessions = Sessions(bus: bus)
    sessions.onChange { hall.reconsider() }
    sessions.onActivity { hall.stir() }
    sessions.onLock { hall.locked() }
    hall.prepareState = {
      do throws(Surroundings.Unusable) { try surroundings.prepareFolders() } catch { Log.failure(error.line) }
    }
    let sensor = ReaderSensor(hall: hall, sessions: sessions)
    let passcodes = PasscodeChild(surroundings: surroundings, accounts: accounts)
    let enclave = Enclave(
      stateDirectory: surroundings.stateFolder, deviceKeys: surroundings.deviceKeys, sensor: sensor,
      passcode: passcodes, clock: DaemonEnclaveClock())
    // In the order in which they happen: a lock must not overtake an unlock.
    let (locks, lockEvents) = AsyncStream.makeStream(of: (UserID, SessionLocks).self)
    sessions.onLocks { lockEvents.yield(($0, $1)) }
    Task { for await (user, state) in locks { await enclave.sessionsChanged(of: user, to: state) } }
    let clients = ClientTasks(bus: bus)
    clients.onVanish { connection in Task { await enclave.connectionClosed(connection) } }
    let status = StatusReport(
      surroundings: surroundings, hall: hall, enclave: enclave, sensor: sensor, passcodes: passcodes)
    let notes = EnrollmentNotes()
    let limits = CallLimits()
    clients.onVanish { notes.drop($0) }
    let services = FprintServices(
      bus: bus, hall: hall, enclave: enclave, polkit: PolkitAuthority(bus: bus), clients: clients,
      sessions: sessions, notes: notes, limits: limits, enrolments: EnrolmentLimits())

    let releases = Releases(bus: bus, log: ReleaseLog(folder: surroundings.stateFolder + "/log"))
    await enclave.setRecorder(releases)
    let agents = AgentRegistry(bus: bus, clients: clients, sessions: sessions)
    let desk = AgentDesk(bus: bus, enclave: enclave, registry: agents, clients: clients)
    let frame = CallFrame(
      bus: bus, clients: clients, accounts: accounts, enclave: enclave, limits: limits, desk: desk)
    let keychain = KeychainFace(frame: frame, enclave: enclave)
    let deviceXML = String(cString: whorl_interface_fprint_device())
    let manager = FprintManagerFace(hall: hall, bus: bus, limits: limits) { station throws(BusError) in
      try FprintDeviceFace(station, services, xml: deviceXML)
    }
    let removal = AccountRemoval(
      hall: hall, enclave: enclave, polkit: services.polkit, releases: releases,
      endClaims: { [weak manager] isMeant in await manager?.endClaims(for: isMeant) })
    let authentication = AuthenticationFace(
      frame: frame, enclave: enclave, status: status, removal: removal, notes: notes,
      logins: Logins(frame: frame, enclave: enclave, sessions: sessions, hall: hall),
      trust: ReaderTrust(hall: hall, enclave: enclave), agents: agents, releases: releases)
    bridges.onFingerStatus = { [weak manager, weak hall] reader, needed, present in
      hall?.fingerStatus(reader, needed: needed, present: present)
      manager?.fingerStatus(reader, needed: needed, present: present)
    }
    hall.onBridgeEnd { [weak manager, weak hall] in
      guard let hall else { return }
      for station in hall.stations where !hall.bridges.isOpenApart(station.id) {
        manager?.fingerStatus(station.id, needed: false, present: false)
      }
    }
    let registrations = [
      try bus.export(
        path: WhorlNames.path, interfaceXML: String(cString: whorl_interface_authentication()),
        interface: WhorlNames.authentication, handler: authentication),
      try bus.export(
        path: WhorlNames.path, interfaceXML: String(cString: whorl_interface_keychain()),
        interface: WhorlNames.keychain, handler: keychain),
      try bus.export(
        path: FprintNames.managerPath, interfaceXML: String(cString: whorl_interface_fprint_manager()),
        interface: FprintNames.managerInterface, handler: manager),
    ]
    let sleepGuard = SleepGuard(bus: bus) {
      hall.fallAsleep()
    } prepare: {
      await enclave.cancelAll()
      await hall.endBridge()
    } wake: {
      hall.awake()
      do throws(ReaderError) { try await hall.refresh() } catch {
        Log.warning("looking for readers failed: \(error.line)")
      }
    }
    try sleepGuard.start()
    try sessions.start()
    // Where fprintd runs, nobody shall meet a whorld that is about to end.
    guard try await bus.owner(of: FprintNames.bus) == nil else { throw .nameTaken(FprintNames.bus) }
    // The objects are there before the names are: whoever waits for a name can call at once.
    try await bus.requestName(WhorlNames.bus)
    try await bus.requestName(FprintNames.bus)
    Log.notice(
      surroundings.isPrivate
        ? "ready in private mode, with state in \(surroundings.stateFolder)" : "ready")

    Task { @GLibActor in
      do throws(ReaderError) { try await hall.refresh() } catch {
        Log.warning("looking for readers failed: \(error.line)")
      }
    }

    Task { await Self.lookForPasscodes(enclave, accounts) }

    let end = await firstEnd(signals, bus)
    withExtendedLifetime(sleepGuard) {}
    await enclave.cancelAll()
    await bridges.stop()
    for registration in registrations { registration.unregister() }
    try? await bus.flush()
    if let signal = end {
      Log.notice("ending on signal \(signal)")
      return 0
    }
    Log.failure("the bus connection or a name on it was lost; ending")
    return 1
  }

  /// Items that were to end with an account's password end where it was removed while whorld was away.
  private static func lookForPasscodes(_ enclave: Enclave, _ accounts: AccountDirectory) async {
    for user in (try? await enclave.usersWithKeychain()) ?? [] {
      guard let account = (try? await accounts.with(user)) ?? nil else { continue }
      await enclave.learn(user, .named(account.name))
      await enclave.lookForPasscode(of: user)
    }
  }

  /// Waits for a signal (its number) or for the end of the bus connection or of a name (nil).
  @GLibActor
  private static func firstEnd(_ signals: UnixSignals, _ bus: BusConnection) async -> Int32? {
    let (ends, ended) = AsyncStream.makeStream(of: Int32?.self)
    let listening = Task { @GLibActor in
      for await signal in signals.arrivals { ended.yield(signal) }
    }
    let closed = bus.onClosed { ended.yield(nil) }
    let lost = try? bus.onNameLost { name in
      if name == WhorlNames.bus || name == FprintNames.bus { ended.yield(nil) }
    }
    var iterator = ends.makeAsyncIterator()
    let end = await iterator.next() ?? nil
    listening.cancel()
    closed.cancel()
    lost?.cancel()
    return end
  }
}
