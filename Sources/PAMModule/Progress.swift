import CSystemd

/// What whorld says while a request runs.
enum Progress: Equatable {
  case prompt(Prompt)
  /// In the queue behind others.
  case queued
  /// Nothing to show: a match, whose answer follows, or an event that this version does not know.
  case other

  /// Reads a Progress signal of that operation; nil for any other message and for one that is not as it should be.
  init?(_ message: borrowing BusMessage, of operation: UInt64) {
    let isProgress = withCString("org.whorl.Authentication1") { interface in
      withCString("Progress") { sd_bus_message_is_signal(message.raw, interface, $0) > 0 }
    }
    guard
      isProgress, message.hasSignature("tsa{sv}"), message.readUInt64() == operation, let event = message.readText(),
      let details = ProgressDetails(message)
    else { return nil }
    self = details.progress(event)
  }
}

/// The details of a Progress signal that the module has a use for.
struct ProgressDetails {
  private var swipe = false
  private var fingers = 0
  private var finger: FingerName?
  private var reason: RetryReason = .general
  private var triesLeft: UInt32?

  /// Reads the a{sv} at which the message stands. Values of other types than they should have are left out.
  init?(_ message: borrowing BusMessage) {
    guard message.enter(.array, "{sv}") else { return nil }
    while message.enter(.entry, "sv") {
      guard let key = message.readText(), read(key, message), message.exit() else { return nil }
    }
  }

  /// Takes the variant that follows `key`; false where the message cannot be read on.
  private mutating func read(_ key: CText, _ message: borrowing BusMessage) -> Bool {
    if equals(key, "scan-type"), message.nextVariantHolds("s") {
      guard message.enter(.variant, "s"), let type = message.readText() else { return false }
      swipe = equals(type, "swipe")
    } else if equals(key, "reason"), message.nextVariantHolds("s") {
      guard message.enter(.variant, "s"), let name = message.readText() else { return false }
      reason = RetryReason(name: name)
    } else if equals(key, "tries-left"), message.nextVariantHolds("u") {
      guard message.enter(.variant, "u"), let count = message.readUInt32() else { return false }
      triesLeft = count
    } else if equals(key, "fingers"), message.nextVariantHolds("as") {
      guard message.enter(.variant, "as"), readFingers(message) else { return false }
    } else {
      return message.skipVariant()
    }
    return message.exit()
  }

  private mutating func readFingers(_ message: borrowing BusMessage) -> Bool {
    guard message.enter(.array, "s") else { return false }
    while let name = message.readText() {
      fingers += 1
      finger = FingerName(name: name)
    }
    return message.exit()
  }

  func progress(_ event: CText) -> Progress {
    if equals(event, "queued") { return .queued }
    if equals(event, "waiting") { return .prompt(.touch(swipe: swipe, finger: fingers == 1 ? finger : nil)) }
    if equals(event, "retry") { return .prompt(.retry(reason)) }
    if equals(event, "no-match") { return .prompt(.noMatch(triesLeft: triesLeft)) }
    if equals(event, "home-closed") { return .prompt(.homeClosed) }
    return .other
  }
}
