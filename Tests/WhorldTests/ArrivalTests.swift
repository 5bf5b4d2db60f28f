import GLibLoop
import Keychain
import PrintStore
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

@testable import WhorlDaemon

/// A login that comes before its reader does.
@Suite(.timeLimit(.minutes(2))) struct ArrivalTests {
  init() { GLibLoop.startThread() }

  /// A hall of which only the time moves by itself: the bridge is one that lists no readers, and the test plugs them in.
  @GLibActor
  private final class Setting {
    let time = FakeTime()
    let hall: ReaderHall
    private let folder: TemporaryFolder
    /// Who has a print on the reader "fake/0".
    let paul = FprintUser(name: "paul", account: Account(user: UserID(1001), name: "paul"))
    /// Who has none.
    let mary = FprintUser(name: "mary", account: Account(user: UserID(1002), name: "mary"))

    init(bridge fault: String = "no readers") throws {
      folder = try TemporaryFolder()
      for name in ["prints", "lost", "owners"] { try folder.makeFolder(name) }
      // The machine's time goes on, and may do so while other tests have the processor.
      var limits = ReaderKeeper.Limits.standard
      (limits.start, limits.pong, limits.idle) = (600_000, 600_000, 600_000)
      let bridges = ReaderBridges(
        make: NarrowBridge.Maker(
          program: try BuiltPrograms.path("fake-bridge"), isPrivate: false, environment: ["FAKE_FAULT": fault],
          limits: limits),
        places: ReaderPlaces(), history: nil)
      hall = ReaderHall(
        bridges: bridges, store: PrintStore(root: folder("prints")), lostPrints: PrintStore(root: folder("lost")),
        owners: PrintOwners(root: folder("owners")), accounts: AccountDirectory(), allowsVirtualReaders: false,
        clock: time.clock)
      try hall.store.save(
        Array("FP3 print".utf8), for: PrintStore.Key(user: "paul", driver: "fake", deviceID: "0", finger: .rightIndex))
    }

    /// The bridge tells of these readers.
    func plug(_ identifiers: String...) {
      let readers = identifiers.enumerated().map { number, identifier in
        ReaderDescription(
          token: UInt32(number + 1), driver: "fake", deviceID: identifier, name: "Fake", scanType: .press,
          features: [.verify], enrollStages: 5)
      }
      hall.keeper.onReadersChanged?(readers)
    }

    /// A login waits for a user's reader; when this returns, the bridge has said that it has none.
    func login(of user: FprintUser, seconds: Int64 = 30) async throws -> Login {
      let login = Login(hall, user, seconds)
      await settle()
      try await hall.refresh()
      await settle()
      return login
    }

    func end() async { await hall.keeper.stop() }
  }

  /// One wait for a reader.
  @GLibActor
  private final class Login {
    private(set) var end: Bool?
    private(set) var task: Task<Void, Never>?

    init(_ hall: ReaderHall, _ user: FprintUser, _ seconds: Int64) {
      task = Task { @GLibActor in self.end = await hall.awaitReader(of: user, atMost: seconds * 1000) }
    }
  }

  @GLibActor @Test func `A reader that comes a second after whorld's start is waited for, and no longer`() async throws
  {
    let setting = try Setting()
    let login = try await setting.login(of: setting.paul)
    #expect(login.end == nil)
    await setting.time.pass(seconds: 1)
    #expect(login.end == nil)
    setting.plug("7")
    await settle()
    #expect(login.end == nil, "a reader on which he has no print")
    setting.plug("7", "0")
    await settle()
    #expect(login.end == true)
    #expect(setting.hall.stations.count == 2)
    await setting.end()
  }

  @GLibActor @Test func `A reader that does not come is waited for three seconds`() async throws {
    let setting = try Setting()
    let login = try await setting.login(of: setting.paul)
    await setting.time.pass(seconds: 2)
    #expect(login.end == nil)
    await setting.time.pass(seconds: 1)
    #expect(login.end == true)
    let hasty = try await setting.login(of: setting.paul, seconds: 1)
    #expect(hasty.end == nil)
    await setting.time.pass(seconds: 1)
    #expect(hasty.end == true, "nor for longer than the login has")
    await setting.end()
  }

  @GLibActor @Test func `Who has no prints, or has a reader there, is answered at once`() async throws {
    let setting = try Setting()
    let login = Login(setting.hall, setting.mary, 30)
    await settle()
    #expect(login.end == true)
    #expect(setting.hall.keeper.processID == nil, "nothing was looked for")
    setting.plug("0")
    let other = Login(setting.hall, setting.paul, 30)
    await settle()
    #expect(other.end == true)
    #expect(setting.hall.keeper.processID == nil)
  }

  @GLibActor @Test func `The prints of a former account of that name are waited for by nobody`() async throws {
    let setting = try Setting()
    let new = FprintUser(name: "paul", account: Account(user: UserID(1003), name: "paul"))
    try setting.hall.owners.record(1001, for: "paul")
    let login = Login(setting.hall, new, 30)
    await settle()
    #expect(login.end == true)
  }

  @GLibActor @Test func `Long after the start nothing is waited for`() async throws {
    let setting = try Setting()
    await setting.time.pass(seconds: 9)
    let late = try await setting.login(of: setting.paul)
    #expect(late.end == nil)
    await setting.time.pass(seconds: 1)
    #expect(late.end == true, "the time after the start is over")
    let login = Login(setting.hall, setting.paul, 30)
    await settle()
    #expect(login.end == true)
    await setting.end()
  }

  @GLibActor @Test func `A reader that went a moment ago may come back, another one's user does not wait`() async throws
  {
    let setting = try Setting()
    try setting.hall.store.save(
      Array("FP3 print".utf8), for: PrintStore.Key(user: "mary", driver: "fake", deviceID: "9", finger: .rightIndex))
    setting.plug("0")
    await setting.time.pass(seconds: 60)
    setting.plug()
    await setting.time.pass(seconds: 1)
    let other = Login(setting.hall, setting.mary, 30)
    let login = try await setting.login(of: setting.paul)
    #expect(other.end == true)
    #expect(login.end == nil)
    await setting.time.pass(seconds: 1)
    #expect(login.end == nil)
    await setting.time.pass(seconds: 1)
    #expect(login.end == true, "three seconds after it went")
    setting.plug("0")
    setting.plug()
    let again = try await setting.login(of: setting.paul)
    setting.plug("0")
    await settle()
    #expect(again.end == true)
    await setting.end()
  }

  @GLibActor @Test func `A reader that has not come back after a wake is waited for`() async throws {
    let setting = try Setting()
    setting.plug("0")
    await setting.time.pass(seconds: 60)
    setting.hall.fallAsleep()
    let sleeping = Login(setting.hall, setting.paul, 30)
    await settle()
    #expect(sleeping.end == true, "no reader comes now")
    setting.hall.awake()
    setting.plug()
    #expect(setting.hall.stations.map(\.isMissing) == [true])
    let login = try await setting.login(of: setting.paul)
    await setting.time.pass(seconds: 1)
    #expect(login.end == nil)
    setting.plug("0")
    await settle()
    #expect(login.end == true)
    await setting.end()
  }

  @GLibActor @Test func `A first look for readers that takes too long is known as one`() async throws {
    // Its bridge starts and says nothing.
    let setting = try Setting(bridge: "silent")
    let login = Login(setting.hall, setting.paul, 30)
    await setting.time.pass(seconds: 2)
    #expect(login.end == nil)
    await setting.time.pass(seconds: 1)
    await login.task?.value
    #expect(login.end == false)
    await setting.end()
  }

  @GLibActor @Test func `A bridge that fails, a sleep and the end of the caller end the wait`() async throws {
    let failing = try Setting(bridge: "ends at once")
    let login = Login(failing.hall, failing.paul, 30)
    await login.task?.value
    #expect(login.end == true)
    let setting = try Setting()
    let slept = try await setting.login(of: setting.paul)
    setting.hall.fallAsleep()
    await settle()
    #expect(slept.end == true)
    setting.hall.awake()
    let gone = try await setting.login(of: setting.paul)
    #expect(gone.end == nil)
    gone.task?.cancel()
    await gone.task?.value
    await setting.end()
    await failing.end()
  }
}
