internal import Fingerprint
internal import GLibLoop
internal import ReaderLink

/// The readers by their tokens, and which of them is busy.
@GLibActor
final class Roster {
  /// Told of the new list when readers came or went; once for all changes of a short time.
  var onChange: (@GLibActor ([ReaderDescription]) -> Void)?
  /// Told what a reader waits for.
  var onFingerStatus: (@GLibActor (_ reader: UInt32, _ needed: Bool, _ present: Bool) -> Void)?

  /// Told how warm a reader has become.
  var onTemperature: (@GLibActor (_ reader: UInt32, ReaderTemperature) -> Void)?

  private let context = FingerprintContext()
  private var entries: [(token: UInt32, reader: Reader)] = []
  private var busy: Set<UInt32> = []
  private var removed: Set<UInt32> = []
  private var lastToken: UInt32 = 0
  private var hasChanged = false
  private var teller: Task<Void, any Error>?

  /// A plug with a loose contact comes and goes many times a second; the list is sent at most this often.
  private static let changeMilliseconds = 200

  init() {
    context.onAdded = { [weak self] reader in
      self?.enter(reader)
      self?.tellChange()
    }
    context.onRemoved = { [weak self] reader in
      self?.leave(reader)
      self?.tellChange()
    }
  }

  /// Looks for readers the first time; gives the list as it is now.
  func enumerate() async -> [ReaderDescription] {
    for reader in await context.enumerate() where !entries.contains(where: { $0.reader === reader }) { enter(reader) }
    return descriptions
  }

  /// Runs one operation on a reader; `.busy` while another one runs there.
  func withReader<R: Sendable>(
    _ token: UInt32, _ body: @GLibActor (Reader) async throws(ReaderError) -> R
  ) async throws(ReaderError) -> R {
    guard let reader = entries.first(where: { $0.token == token })?.reader else { throw .noSuchReader }
    guard busy.insert(token).inserted else { throw .busy("another operation runs on \(reader.name.printable)") }
    defer {
      busy.remove(token)
      if removed.contains(token) { closeRemoved(token, reader) }
      if !entries.contains(where: { $0.token == token }) { removed.remove(token) }
    }
    do throws(ReaderError) {
      return try await body(reader)
    } catch {
      // The same, where nothing was plugged in instead.
      if case .removed = error, !reader.isOpen, !reader.isRemoved, entries.contains(where: { $0.token == token }) {
        drop(token, reader)
        tellChange()
      }
      throw error
    }
  }

  /// Closes whatever is open.
  func closeAll() async {
    for entry in entries where entry.reader.isOpen { _ = try? await entry.reader.close() }
  }

  private var descriptions: [ReaderDescription] {
    // One that was unplugged is gone for whorld, though libfprint keeps it until it is closed.
    entries.filter { !removed.contains($0.token) }.prefix(LinkLimits.readers).map { token, reader in
      ReaderDescription(
        token: token, driver: reader.driver.printable, deviceID: reader.deviceID.printable,
        name: reader.name.printable, scanType: reader.scanType, features: reader.features,
        enrollStages: UInt32(min(reader.enrollStages, Int(LinkLimits.enrollStages))),
        temperature: reader.temperature, hint: reader.place.printable)
    }
  }

  /// The first change at once, those that follow closely together.
  private func tellChange() {
    hasChanged = true
    guard teller == nil else { return }
    teller = Task { @GLibActor in
      while hasChanged {
        hasChanged = false
        onChange?(descriptions)
        try await glibSleep(milliseconds: Self.changeMilliseconds)
      }
      teller = nil
    }
  }

  private func enter(_ reader: Reader) {
    // libfprint misses that a reader was unplugged while it set it up (seen with 1.94.5). A socket holds one device: what
    // was there before is gone.
    let place = reader.place
    if !place.isEmpty {
      for entry in entries where entry.reader.place == place { drop(entry.token, entry.reader) }
    }
    lastToken += 1
    let token = lastToken
    entries.append((token, reader))
    reader.onFingerStatus = { [weak self] needed, present in self?.onFingerStatus?(token, needed, present) }
    reader.onTemperature = { [weak self] in self?.onTemperature?(token, $0) }
    reader.onDescriptionChanged = { [weak self] in self?.tellChange() }
    reader.onRemoved = { [weak self, weak reader] in
      guard let self, let reader else { return }
      removed.insert(token)
      tellChange()
      if !busy.contains(token) { closeRemoved(token, reader) }
    }
  }

  /// Forgets a reader that is gone although libfprint does not say so.
  private func drop(_ token: UInt32, _ reader: Reader) {
    removed.insert(token)
    if !busy.contains(token) { closeRemoved(token, reader) }
    leave(reader)
    context.forget(reader)
  }

  private func leave(_ reader: Reader) {
    // One that is busy is closed, and its token forgotten, at the end of what runs there.
    for entry in entries where entry.reader === reader && !busy.contains(entry.token) { removed.remove(entry.token) }
    entries.removeAll { $0.reader === reader }
  }

  /// libfprint lets an unplugged reader go only once it is closed.
  private func closeRemoved(_ token: UInt32, _ reader: Reader) {
    guard reader.isOpen else { return }
    Task { _ = try? await reader.close() }
  }
}
