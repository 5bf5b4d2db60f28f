internal import Bus
public import GLibLoop

/// The readers and their enrolled fingers, over net.reactivated.Fprint: whorld's, or fprintd's.
///
/// Claims belong to the client: they end when it is let go. The same check as for org.whorl applies: the name must
/// belong to root or to this process's own user.
@GLibActor
public final class FprintClient {
  static let manager = "net.reactivated.Fprint.Manager"

  private let link: ServiceLink

  /// - Parameters:
  ///   - address: of the bus; nil is the system bus, wherever DBUS_SYSTEM_BUS_ADDRESS says that is.
  ///   - mustBeWhorld: whether fprintd in whorld's place is refused, by `.otherDaemon`.
  public nonisolated init(address: String? = nil, mustBeWhorld: Bool = false) {
    link = ServiceLink(service: "net.reactivated.Fprint", address: address, mustBeWhorld: mustBeWhorld)
  }

  /// Told when polkit is about to ask a person before a call goes on, by whorld; the action is polkit's. To be set
  /// before the first request.
  public var onAuthorizing: (@GLibActor (_ action: String) -> Void)? {
    get { link.onAuthorizing }
    set { link.onAuthorizing = newValue }
  }

  /// Whether polkit, which says who may use the readers, is on this machine, running or to be
  /// started when it is needed.
  public func hasPolkit() async -> Bool { await link.isThere("org.freedesktop.PolicyKit1") }

  /// All readers, the default one first. None is an empty list.
  public func devices() async throws(WhorlError) -> [FprintDevice] {
    let reply = try await call("GetDevices", expecting: "ao")
    var paths = (reply.arguments[0].asArray ?? []).prefix(64).compactMap(\.asObjectPath)
    if let first = try await defaultDevice()?.path, let index = paths.firstIndex(of: first) {
      paths.insert(paths.remove(at: index), at: 0)
    }
    return paths.map { FprintDevice(link, path: $0) }
  }

  /// The reader that is used where none is named; nil where there is none.
  public func defaultDevice() async throws(WhorlError) -> FprintDevice? {
    do throws(WhorlError) {
      let reply = try await call("GetDefaultDevice", expecting: "o")
      return FprintDevice(link, path: reply.arguments[0].asObjectPath ?? "/")
    } catch  where error.code == .fprint(.noSuchDevice) {
      return nil
    }
  }

  /// The reader at this path, such as one of WhorlStatus; it may not be there.
  public func device(at path: String) -> FprintDevice { FprintDevice(link, path: path) }

  private func call(_ method: String, expecting: String) async throws(WhorlError) -> BusReply {
    try await link.call("/net/reactivated/Fprint/Manager", Self.manager, method, expecting: expecting)
  }
}

/// What there is to know about a reader. The name is free of control characters.
public struct FprintDeviceDescription: Hashable, Sendable {
  /// The product name.
  public let name: String
  /// "press" or "swipe".
  public let scanType: String
  /// How many touches an enrolment takes; nil where the reader does not say unless it is claimed.
  public let enrollStages: Int?
}

/// One word about a running enrolment or verification.
public struct FprintScanStatus: Hashable, Sendable {
  /// fprintd's word, such as enroll-stage-passed, verify-match, verify-retry-scan.
  public let word: String
  /// Whether it ends there.
  public let done: Bool

  /// A status of these.
  public init(word: String, done: Bool) {
    self.word = word
    self.done = done
  }
}

/// One reader.
///
/// Claim it before you enrol, verify or delete, and release it after. polkit may ask the user for leave.
@GLibActor
public final class FprintDevice {
  static let interface = "net.reactivated.Fprint.Device"

  /// The reader's object on the bus.
  public nonisolated let path: String
  private let link: ServiceLink

  init(_ link: ServiceLink, path: String) {
    self.link = link
    self.path = path
  }

  /// The reader's properties as they are now.
  public func properties() async throws(WhorlError) -> FprintDeviceDescription {
    let reply = try await link.call(
      path, "org.freedesktop.DBus.Properties", "GetAll", [.string(Self.interface)], expecting: "a{sv}")
    let values = reply.arguments[0].asOptions ?? [:]
    let stages = values["num-enroll-stages"]?.asInt32 ?? -1
    return FprintDeviceDescription(
      name: printable(values["name"]?.asString ?? ""), scanType: printable(values["scan-type"]?.asString ?? ""),
      enrollStages: (1...1000).contains(stages) ? Int(stages) : nil)
  }

  /// The names of a user's enrolled fingers, such as right-index-finger. None is an empty list.
  ///
  /// - Parameter user: a user name; empty is the caller.
  public func listEnrolledFingers(of user: String = "") async throws(WhorlError) -> [String] {
    do throws(WhorlError) {
      let reply = try await call("ListEnrolledFingers", [.string(user)], expecting: "as")
      return (reply.arguments[0].asStrings ?? []).prefix(10).map(printable)
    } catch  where error.code == .fprint(.noEnrolledPrints) {
      return []
    }
  }

  /// Why the last enrolment of this client was refused, in one line with the remedy; empty where the daemon has nothing
  /// to say, as fprintd never has.
  public func explainEnrollment() async -> String {
    // The daemon keeps it for this very connection, so it is asked there.
    let reply = try? await link.call(
      "/org/whorl", "org.whorl.Authentication1", "ExplainEnrollment", expecting: "s", timeoutMilliseconds: 20_000)
    return printable(reply?.arguments[0].asString ?? "")
  }

  /// Takes the reader for this user (empty: the caller), until it is released or this client goes.
  public func claim(for user: String = "") async throws(WhorlError) { _ = try await call("Claim", [.string(user)]) }

  /// Gives the reader back.
  public func release() async throws(WhorlError) { _ = try await call("Release") }

  /// Deletes one finger of the user who claimed the reader.
  public func deleteEnrolledFinger(_ finger: String) async throws(WhorlError) {
    _ = try await call("DeleteEnrolledFinger", [.string(finger)])
  }

  /// Deletes all fingers of the user who claimed the reader.
  public func deleteAllEnrolledFingers() async throws(WhorlError) { _ = try await call("DeleteEnrolledFingers2") }

  /// Enrols a finger on the claimed reader. Reports every status, the last one among them, and gives the last.
  ///
  /// Cancelling the task stops the enrolment and throws `.cancelled`.
  public func enroll(
    _ finger: String, report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError) -> FprintScanStatus {
    try await scan("Enroll", finger, report)
  }

  /// The statuses of an enrolment, which starts now and ends with the last one. Letting the stream go stops it. Its
  /// errors are WhorlErrors.
  public func enrollStatuses(_ finger: String) -> AsyncThrowingStream<FprintScanStatus, any Error> {
    statuses("Enroll", finger)
  }

  /// Verifies a finger ("any" for any enrolled one) on the claimed reader; as ``enroll(_:report:)``.
  public func verify(
    _ finger: String = "any", report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError) -> FprintScanStatus {
    try await scan("Verify", finger, report)
  }

  /// The statuses of a verification; as ``enrollStatuses(_:)``.
  public func verifyStatuses(_ finger: String = "any") -> AsyncThrowingStream<FprintScanStatus, any Error> {
    statuses("Verify", finger)
  }

  // MARK: Scans

  private func statuses(_ kind: String, _ finger: String) -> AsyncThrowingStream<FprintScanStatus, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: FprintScanStatus.self)
    let task = Task { @GLibActor in
      do {
        _ = try await scan(kind, finger) { continuation.yield($0) }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// KindStart, KindStatus signals up to the last, KindStop.
  private func scan(
    _ kind: String, _ finger: String, _ report: @escaping @GLibActor (FprintScanStatus) -> Void
  ) async throws(WhorlError) -> FprintScanStatus {
    let peer = try await link.current()
    let (arrivals, arrived) = AsyncStream.makeStream(of: FprintScanStatus.self)
    let subscription: BusSubscription
    let watch: BusSubscription
    do {
      subscription = try peer.bus.subscribe(
        sender: peer.name, path: path, interface: Self.interface, member: kind + "Status"
      ) { signal in
        guard signal.arguments.count == 2, let word = signal.arguments[0].asString,
          let done = signal.arguments[1].asBool
        else { return }
        arrived.yield(FprintScanStatus(word: printable(word), done: done))
      }
      watch = try peer.bus.watchName(peer.name) { arrived.finish() }
    } catch {
      throw WhorlError(.disconnected, "The connection to the daemon is closed; try again.")
    }
    defer {
      subscription.cancel()
      watch.cancel()
    }

    do throws(WhorlError) {
      // polkit may ask the user: no limit.
      _ = try await call(kind + "Start", [.string(finger)], daemon: peer.name, timeoutMilliseconds: nil)
    } catch {
      // The start may have come through before it was given up.
      if error.code == .cancelled { await stop(kind, peer.name) }
      throw error
    }
    for await status in arrivals {
      report(status)
      if status.done {
        await stop(kind, peer.name)
        return status
      }
    }
    if Task.isCancelled {
      await stop(kind, peer.name)
      throw WhorlError(.cancelled, "The request was cancelled.")
    }
    throw WhorlError(.disconnected, "The daemon went away in the middle of the scan; try again.")
  }

  /// Ends the operation, in a task of its own, since ours may be cancelled. There may be nothing to stop any more.
  private func stop(_ kind: String, _ daemon: String) async {
    await Task { @GLibActor in _ = try? await self.call(kind + "Stop", daemon: daemon, timeoutMilliseconds: 10_000) }
      .value
  }

  private func call(
    _ method: String, _ arguments: [BusValue] = [], expecting: String = "", daemon: String? = nil,
    // polkit may ask up to three times, for two minutes each.
    timeoutMilliseconds: Int? = 400_000
  ) async throws(WhorlError) -> BusReply {
    try await link.call(
      path, Self.interface, method, arguments, expecting: expecting, daemon: daemon,
      timeoutMilliseconds: timeoutMilliseconds, options: .interactive)
  }
}
