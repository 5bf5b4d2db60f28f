import CSystemd

/// What the line of the PAM service file says. An option that is unknown, malformed or out of range is handed to
/// `refuse` and changes nothing: the safe default stays.
struct ModuleOptions: Equatable {
  /// Seconds for the whole fingerprint step, from the request on: 1 to 300.
  var timeout: UInt32 = 30
  /// Touches that may fail before the answer is no: 1 to 5.
  var maxTries: UInt32 = 3
  /// Log each step.
  var debug = false
  /// Show prompts even where the program asked for silence: sudo before 1.9.16 always does.
  var alwaysPrompt = false
  /// Take only what would open a secret: a finger that was registered with the passcode, on a trusted reader.
  var trustedReaders = false
  /// This line is the step after the password: it asks for no finger, and gives whorld the password that was taken.
  var login = false
  /// With `login`: hand what opens the login keyring to the modules after this.
  var keyring = false
  /// On a terminal, ask for the finger and the password at once.
  var simultaneous = false
  /// Take no finger before the password was given since the machine started.
  var passcodeAfterBoot = false
  /// Services that are asked for no finger, with commas between them.
  private var skipped: CText?

  /// The longest silent wait in seconds: nobody was told that a finger is awaited.
  static let silentTimeout: UInt32 = 5

  init() {}

  /// Reads `count` arguments; later ones win.
  init(_ arguments: UnsafePointer<CText?>?, count: Int32, refuse: (CText) -> Void) {
    guard let arguments else { return }
    var index = 0
    while index < count {
      if let argument = arguments[index], !read(argument) { refuse(argument) }
      index += 1
    }
  }

  /// Takes one argument; false where it is none of ours or has no good value.
  private mutating func read(_ argument: CText) -> Bool {
    if equals(argument, "debug") {
      debug = true
    } else if equals(argument, "always-prompt") {
      alwaysPrompt = true
    } else if equals(argument, "trusted-readers") {
      trustedReaders = true
    } else if equals(argument, "login") {
      login = true
    } else if equals(argument, "keyring") {
      keyring = true
    } else if equals(argument, "simultaneous") {
      simultaneous = true
    } else if equals(argument, "passcode-after-boot") {
      passcodeAfterBoot = true
    } else if hasPrefix(argument, ModuleOptions.skipKey), argument[ModuleOptions.skipKey.utf8CodeUnitCount] != 0 {
      skipped = argument + ModuleOptions.skipKey.utf8CodeUnitCount
    } else if let value = number(after: "timeout=", in: argument, within: 1...300) {
      timeout = value
    } else if let value = number(after: "max-tries=", in: argument, within: 1...5) {
      maxTries = value
    } else {
      return false
    }
    return true
  }

  /// The decimal digits that follow `key`; nil for another key, other characters or a value out of `range`.
  private func number(after key: StaticString, in argument: CText, within range: ClosedRange<UInt32>) -> UInt32? {
    guard hasPrefix(argument, key) else { return nil }
    var next = argument + key.utf8CodeUnitCount
    guard next[0] != 0 else { return nil }
    var value: UInt32 = 0
    while next[0] != 0 {
      let digit = UInt8(bitPattern: next[0])
      guard (0x30...0x39).contains(digit) else { return nil }
      value = value * 10 + UInt32(digit - 0x30)
      // Also keeps the next multiplication from overflowing.
      guard value <= range.upperBound else { return nil }
      next += 1
    }
    return range.contains(value) ? value : nil
  }

  private static let skipKey: StaticString = "skip-services="

  /// Whether `service` is one of those that the administrator left out.
  func skips(_ service: CText) -> Bool {
    guard var next = skipped else { return false }
    let length = strlen(service)
    while true {
      var end = 0
      while next[end] != 0, next[end] != 0x2c { end += 1 }
      if end > 0, end == length, strncmp(next, service, end) == 0 { return true }
      guard next[end] != 0 else { return false }
      next += end + 1
    }
  }

  /// The seconds to wait for a program that asked for silence or did not.
  func timeout(silent: Bool) -> UInt32 {
    silent && !alwaysPrompt ? min(timeout, ModuleOptions.silentTimeout) : timeout
  }
}
