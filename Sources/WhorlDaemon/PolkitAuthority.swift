internal import Bus
internal import GLibLoop
internal import Keychain

/// Asks polkit (its D-Bus API, org.freedesktop.PolicyKit1.Authority) whether a caller may do something.
///
/// Everything but a plain yes is no: polkit denying, absent, slow, failing or answering nonsense.
@GLibActor
final class PolkitAuthority {
  /// The seconds that a person has to answer polkit's agent.
  static let patience = 120
  /// Questions of one account that polkit has at once; further ones wait for those. The bus bears 128 unanswered calls
  /// of a connection, and each may wait for a person: one account must not use up those of all.
  static let atOnce = 8
  /// So many milliseconds polkit has to take a question back.
  private static let cancelMilliseconds = 5_000

  private let bus: BusConnection
  private let lines = AccountLines(atOnce: atOnce)
  private var lastNumber = 0

  init(bus: BusConnection) { self.bus = bus }

  /// Whether the caller is authorised for `action`; asks the person where polkit's rules say so.
  func allows(_ caller: Caller, _ action: String) async -> Bool {
    guard await lines.enter(caller.user) else { return false }
    defer { lines.leave(caller.user) }
    lastNumber += 1
    return await ask(caller.connection, action, cancellation: "whorl-\(lastNumber)")
  }

  private static let name = "org.freedesktop.PolicyKit1"
  private static let path = "/org/freedesktop/PolicyKit1/Authority"
  private static let interface = "org.freedesktop.PolicyKit1.Authority"

  private func ask(_ sender: String, _ action: String, cancellation: String) async -> Bool {
    do {
      // Without a dialog first: polkit says that way that it is about to show one, and the caller can say so too.
      let (allowed, wouldAsk) = try await question(sender, action, mayShowDialog: false, cancellation: cancellation)
      guard !allowed, wouldAsk else { return allowed }
      announce(action, to: sender)
      return try await question(sender, action, mayShowDialog: true, cancellation: cancellation).allowed
    } catch .cancelled {
      takeBack(cancellation)
    } catch {
      Log.warning("polkit was asked for \(action) and gave no answer (\(error)); refusing")
      if case .timedOut = error { takeBack(cancellation) }
    }
    return false
  }

  /// Nobody waits for that answer any more: what asks the person closes.
  private func takeBack(_ cancellation: String) {
    Task { @GLibActor [bus] in
      _ = try? await bus.call(
        destination: Self.name, path: Self.path, interface: Self.interface, method: "CancelCheckAuthorization",
        arguments: [.string(cancellation)], timeoutMilliseconds: Self.cancelMilliseconds, options: .noAutoStart)
    }
  }

  private func question(
    _ sender: String, _ action: String, mayShowDialog: Bool, cancellation: String
  ) async throws(BusError) -> (allowed: Bool, wouldAsk: Bool) {
    let subject = BusValue.structure([.string("system-bus-name"), .options(["name": .string(sender)])])
    let allowUserInteraction: UInt32 = 1
    let reply = try await bus.call(
      destination: Self.name, path: Self.path, interface: Self.interface, method: "CheckAuthorization",
      arguments: [
        subject, .string(action), .dictionary(key: "s", value: "s", []),
        .uint32(mayShowDialog ? allowUserInteraction : 0), .string(cancellation),
      ],
      expecting: "(bba{ss})", timeoutMilliseconds: Self.patience * 1000)
    let answer = reply.arguments.first?.asStructure ?? []
    guard answer.count == 3 else { return (false, false) }
    return (answer[0].asBool == true, answer[1].asBool == true)
  }

  /// Tells the caller alone that its call waits for a person and polkit's dialog.
  private func announce(_ action: String, to sender: String) {
    do {
      try bus.emitSignal(
        destination: sender, path: WhorlNames.path, interface: WhorlNames.authentication, name: "Progress",
        arguments: [.uint64(0), .string("authorizing"), .options(["action": .string(action)])])
    } catch {
      Log.warning("could not tell that polkit asks: \(error)")
    }
  }
}
