internal import Bus
internal import GLibLoop

/// Requests as notifications of the desktop (org.freedesktop.Notifications), with actions that cancel or ask for the
/// password instead. One thing
/// after another: a server that is slow gets what it has missed, one that is not there is done without.
@GLibActor
final class Notifications {
  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  /// So many milliseconds the server may take, its start included.
  private static let patience = 5_000
  /// So much may wait for the server.
  private static let mostWaiting = 64

  /// One that the server shows.
  private struct Card: Equatable {
    let id: UInt32
    /// Its server's unique name: another server's numbers mean nothing.
    let server: String
  }

  private enum Deed {
    case show(UInt64, PromptWords)
    case close(UInt64)
  }

  private let bus: BusConnection
  private var cards: [UInt64: Card] = [:]
  private var waiting: [Deed] = []
  private var working: Task<Void, Never>?
  /// Whose button was pressed while a notification was being shown, none that is known.
  private var early: [(card: Card, wish: PromptWish)] = []
  private var subscriptions: [BusSubscription] = []
  /// Called with what the person wants of a request.
  var onWish: (@GLibActor (UInt64, PromptWish) -> Void)?

  init(bus: BusConnection) throws(BusError) {
    self.bus = bus
    subscriptions = [
      try bus.subscribe(path: Self.path, interface: Self.name, member: "ActionInvoked") { [weak self] signal in
        guard let self, signal.arguments.count == 2,
          let wish = signal.arguments[1].asString.flatMap(PromptWish.init(rawValue:))
        else { return }
        guard let request = request(of: signal) else { return keepEarly(signal, wish) }
        onWish?(request, wish)
      },
      try bus.subscribe(path: Self.path, interface: Self.name, member: "NotificationClosed") { [weak self] signal in
        // Put away, which says nothing about the request.
        if let self, let request = request(of: signal) { cards[request] = nil }
      },
    ]
  }

  /// Shows a request, in place of what was shown for it.
  func show(_ request: UInt64, _ words: PromptWords) { add(.show(request, words)) }

  /// Takes away what is shown for a request.
  func close(_ request: UInt64) {
    waiting.removeAll { if case .show(request, _) = $0 { true } else { false } }
    add(.close(request))
  }

  /// Waits until all that was to be shown or taken away is.
  func finish() async { await working?.value }

  private func request(of signal: BusSignal) -> UInt64? {
    guard let id = signal.arguments.first?.asUInt32 else { return nil }
    return cards.first { $0.value.id == id && $0.value.server == signal.sender }?.key
  }

  /// The button may be pressed before the answer that says which number the notification has was looked at.
  private func keepEarly(_ signal: BusSignal, _ wish: PromptWish) {
    guard working != nil, early.count < Self.mostWaiting, let id = signal.arguments.first?.asUInt32 else { return }
    early.append((Card(id: id, server: signal.sender), wish))
  }

  private func add(_ deed: Deed) {
    guard waiting.count < Self.mostWaiting else { return }
    waiting.append(deed)
    guard working == nil else { return }
    working = Task { @GLibActor in
      while !waiting.isEmpty {
        switch waiting.removeFirst() {
        case .show(let request, let words): await put(request, words)
        case .close(let request): await remove(request)
        }
      }
      working = nil
    }
  }

  private func put(_ request: UInt64, _ words: PromptWords) async {
    let capabilities = await call("GetCapabilities", [], expecting: "as")
    guard let capabilities else { return }
    let markup = capabilities.arguments.first?.asStrings?.contains("body-markup") ?? false
    let old = cards[request].flatMap { $0.server == capabilities.sender ? $0.id : nil } ?? 0
    let hints: [String: BusValue] = [
      // Critical: it stays until it is over.
      "urgency": .byte(2), "transient": .boolean(true), "category": .string("device"),
    ]
    var actions = [PromptWish.cancel.rawValue, "Cancel"]
    if let fallback = words.fallback {
      actions += [PromptWish.fallBack.rawValue, fallback == .passcode ? "Use password" : "Another way"]
    }
    let reply = await call(
      "Notify",
      [
        .string("Whorl"), .uint32(old), .string("auth-fingerprint-symbolic"), .string(words.summary),
        .string(words.body(markup: markup)), .strings(actions), .options(hints), .int32(0),
      ], expecting: "u")
    let early = early
    self.early = []
    guard let reply, let id = reply.arguments.first?.asUInt32 else { return }
    let card = Card(id: id, server: reply.sender)
    cards[request] = card
    if let wish = early.first(where: { $0.card == card })?.wish { onWish?(request, wish) }
  }

  private func remove(_ request: UInt64) async {
    guard let card = cards.removeValue(forKey: request) else { return }
    _ = await call("CloseNotification", [.uint32(card.id)], expecting: "", to: card.server)
  }

  private func call(
    _ method: String, _ arguments: [BusValue], expecting: String, to destination: String = name
  ) async -> BusReply? {
    try? await bus.call(
      destination: destination, path: Self.path, interface: Self.name, method: method, arguments: arguments,
      expecting: expecting, timeoutMilliseconds: Self.patience)
  }
}
