internal import Bus
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain
internal import ReleaseLog

/// Notes releases and refusals with the program that asked, and gives users what is about them.
final class Releases: ReleaseRecorder {
  /// The most entries of one answer: more than the files hold, so that none of a kind hides those of another.
  static let mostEntries = 8_000

  private let bus: BusConnection
  private let log: ReleaseLog

  init(bus: BusConnection, log: ReleaseLog) {
    self.bus = bus
    self.log = log
  }

  func record(_ event: ReleaseEvent) {
    let seconds = Int64(time(nil))
    Task { @GLibActor [bus, log] in
      let program = await ClaimedProgram.find(event.owner.connection, on: bus)
      await log.note(
        ReleaseEntry(
          time: seconds, user: event.owner.user.rawValue, deed: event.deed,
          outcome: event.error?.busName.replacing("org.whorl.Error.", with: "") ?? ReleaseEntry.released,
          item: event.item, constraints: event.constraints, executable: program.executable ?? "",
          program: program.name ?? "", pid: program.pid ?? 0))
    }
  }

  /// The entries of a user, the newest first, for the bus. Items that are still there come with their names.
  func entries(of user: UserID, limit: Int, _ enclave: Enclave) async -> [BusValue] {
    let entries = await log.entries(of: user.rawValue, limit: min(limit, Self.mostEntries))
    let names = (try? await enclave.items(byLogNames: Set(entries.map(\.item)), of: user)) ?? [:]
    return entries.map { entry in
      var values: [String: BusValue] = [
        "time": .int64(entry.time), "deed": .string(entry.deed), "outcome": .string(entry.outcome),
        "item-hash": .bytes(entry.item), "constraints": .strings(entry.constraints),
        "executable": .string(entry.executable), "program": .string(entry.program), "pid": .uint32(entry.pid),
      ]
      values["item"] = names[entry.item].flatMap(PromptText.name).map { .string($0) }
      return .options(values)
    }
  }

  /// Removes all that is noted of a user; false where something remains.
  func forget(_ user: UserID) async -> Bool { await log.forget(user.rawValue) }
}
