import CPAM
import Testing

@testable import PAMModuleHosted

/// The options of a service file's line, and the ones that were refused.
private func options(_ arguments: String...) -> (options: ModuleOptions, refused: [String]) {
  var refused: [String] = []
  let copies = arguments.map { $0.utf8CString.map(\.self) }
  // Each text must stay where it is while the options are read.
  let texts = copies.map { copy in
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: copy.count)
    text.initialize(from: copy, count: copy.count)
    return text
  }
  defer { texts.forEach { $0.deallocate() } }
  let pointers = texts.map { CText?(CText($0)) }
  let read = pointers.withUnsafeBufferPointer { list in
    ModuleOptions(list.baseAddress, count: Int32(list.count)) { refused.append(String(cString: $0)) }
  }
  return (read, refused)
}

@Suite struct ModuleOptionsTests {
  @Test func `without options the defaults hold`() {
    let read = options()
    #expect(read.options == ModuleOptions())
    #expect(read.options.timeout == 30)
    #expect(read.options.maxTries == 3)
    #expect(!read.options.debug && !read.options.alwaysPrompt && !read.options.trustedReaders)
    #expect(ModuleOptions(nil, count: 3) { _ in } == ModuleOptions())
  }

  @Test func `good options are taken, the last of a kind wins`() {
    let read = options(
      "timeout=1", "max-tries=5", "debug", "always-prompt", "trusted-readers", "timeout=300", "max-tries=1")
    #expect(read.refused.isEmpty)
    #expect(read.options.timeout == 300)
    #expect(read.options.maxTries == 1)
    #expect(read.options.debug && read.options.alwaysPrompt && read.options.trustedReaders)
  }

  @Test(arguments: [
    "timeout", "timeout=", "timeout=0", "timeout=301", "timeout=-1", "timeout=+1", "timeout= 1", "timeout=1 ",
    "timeout=1.5", "timeout=0x10", "timeout=ten", "timeout=99999999999999999999", "timeout=４", "TIMEOUT=10",
    "max-tries=0", "max-tries=6", "max-tries=", "max-tries=4294967297", "max_tries=2", "debug=1", "Debug", "debugg",
    "", "=", "use_first_pass", "simultaneous=yes", "skip-services=", "skip-services", "passcode-after-boot=1",
    "always-prompt=no", "trusted-readers=yes", "trusted-reader",
  ])
  func `a bad option is named and changes nothing`(argument: String) {
    let read = options(argument, "timeout=12")
    #expect(read.refused == [argument])
    var expected = ModuleOptions()
    expected.timeout = 12
    #expect(read.options == expected)
  }

  @Test(arguments: [
    ("sshd", true), ("cron", true), ("cockpit", true), ("remote", true), ("ssh", false), ("sshd2", false), ("", false),
    ("greetd", false), ("i3lock", false),
  ])
  func `services for nobody here are known by their whole names`(service: String, isBackground: Bool) {
    #expect(service.withCString { KnownService($0) == .background } == isBackground)
  }

  @Test func `services that are left out are known by their whole names`() {
    let read = options("simultaneous", "passcode-after-boot", "skip-services=su,sudo-i,,x").options
    #expect(read.simultaneous && read.passcodeAfterBoot)
    // The list is the argument itself, which is gone here: it is looked at while it is there.
    let skipped = ["su", "sudo", "sudo-i", "x", "", "i", "su,sudo-i"].map { service in
      service.withCString { name in
        "skip-services=su,sudo-i,,x".withCString { argument in
          [CText?(argument)].withUnsafeBufferPointer { list in
            ModuleOptions(list.baseAddress, count: 1) { _ in }.skips(name)
          }
        }
      }
    }
    #expect(skipped == [true, false, true, true, false, false, false])
  }

  @Test func `a silent wait is short, unless prompts are shown all the same`() {
    var options = ModuleOptions()
    #expect(options.timeout(silent: false) == 30)
    #expect(options.timeout(silent: true) == 5)
    options.timeout = 2
    #expect(options.timeout(silent: true) == 2)
    options.alwaysPrompt = true
    options.timeout = 60
    #expect(options.timeout(silent: true) == 60)
  }
}

@Suite struct OutcomeTests {
  @Test func `only what whorld saw succeeds and nothing is ever ignored`() {
    for outcome in Outcome.allCases {
      #expect((outcome.code == PAM_SUCCESS) == [.match, .proven].contains(outcome))
      #expect(outcome.code != PAM_IGNORE)
    }
  }

  @Test(arguments: [
    ("org.whorl.Error.AuthenticationFailed", PAM_AUTH_ERR), ("org.whorl.Error.NoSuchUser", PAM_USER_UNKNOWN),
    ("org.whorl.Error.TimedOut", PAM_AUTHINFO_UNAVAIL), ("org.whorl.Error.BiometryLockout", PAM_AUTHINFO_UNAVAIL),
    ("org.whorl.Error.Denied", PAM_AUTHINFO_UNAVAIL), ("org.whorl.Error.", PAM_AUTHINFO_UNAVAIL),
    ("org.whorl.Error.AuthenticationFailed2", PAM_AUTHINFO_UNAVAIL),
    ("org.freedesktop.DBus.Error.NoReply", PAM_AUTHINFO_UNAVAIL), ("", PAM_AUTHINFO_UNAVAIL),
  ])
  func `errors have their codes`(name: String, code: Int32) {
    #expect(name.withCString { Outcome(errorName: $0) }.code == code)
  }
}

@Suite struct PromptTests {
  private func text(_ prompt: Prompt, service: String = "sudo") -> String {
    withTextLine { line in
      service.withCString { prompt.write(to: &line, service: $0) }
      return line.withText { String(cString: $0) } ?? ""
    }
  }

  @Test func `prompts say what is awaited and for what`() {
    #expect(text(.touch(swipe: false, finger: nil)) == "Touch the fingerprint reader (sudo)")
    #expect(
      text(.touch(swipe: false, finger: .leftThumb)) == "Touch the fingerprint reader with your left thumb (sudo)")
    #expect(
      text(.touch(swipe: true, finger: .rightRing))
        == "Swipe your right ring finger across the fingerprint reader (sudo)")
    #expect(text(.touch(swipe: true, finger: nil)) == "Swipe your finger across the fingerprint reader (sudo)")
    #expect(text(.queued) == "Waiting for the fingerprint reader (sudo)")
    #expect(text(.noMatch(triesLeft: 0)) == "Fingerprint not recognised.")
    #expect(text(.noMatch(triesLeft: 1)) == "Fingerprint not recognised: one try left.")
    #expect(text(.noMatch(triesLeft: 5)) == "Fingerprint not recognised: 5 tries left.")
    #expect(text(.noMatch(triesLeft: 6)) == "Fingerprint not recognised: please try again.")
    #expect(text(.noMatch(triesLeft: nil)) == "Fingerprint not recognised: please try again.")
  }

  /// A catalogue that has these translations alone; the key is the English text, after its context and a bar.
  private func text(
    _ prompt: Prompt, service: String = "sudo", _ translations: [String: String], onTextConsole: Bool = false
  ) -> String {
    final class Catalogue {
      let texts: [String: UnsafeMutablePointer<CChar>]
      init(_ translations: [String: String]) {
        texts = translations.mapValues { text in
          let copy = Array(text.utf8CString)
          let memory = UnsafeMutablePointer<CChar>.allocate(capacity: copy.count)
          memory.initialize(from: copy, count: copy.count)
          return memory
        }
      }
      deinit { texts.values.forEach { $0.deallocate() } }
    }
    let catalogue = Catalogue(translations)
    return withExtendedLifetime(catalogue) {
      let words = Words(
        translate: { catalogue, context, text in
          let key = (context.map { String(cString: $0) + "|" } ?? "") + String(cString: text)
          return Unmanaged<Catalogue>.fromOpaque(catalogue).takeUnretainedValue().texts[key].map { CText($0) }
        }, catalogue: Unmanaged.passUnretained(catalogue).toOpaque(), onTextConsole: onTextConsole)
      return withTextLine { line in
        service.withCString { prompt.write(to: &line, service: $0, in: words) }
        return line.withText { String(cString: $0) } ?? ""
      }
    }
  }

  @Test func `a translation puts its words where it wants, and fingers in the form that it needs`() {
    let german = [
      "Touch the fingerprint reader with your {finger} ({service})": "{service}: mit {finger} berühren",
      "Swipe your {finger} across the fingerprint reader ({service})": "{finger} ziehen ({service})",
      "with|left thumb": "dem linken Daumen", "swipe|left thumb": "den linken Daumen", "left thumb": "falsch",
      "Fingerprint not recognised: {count} tries left.": "noch {count}",
    ]
    #expect(text(.touch(swipe: false, finger: .leftThumb), german) == "sudo: mit dem linken Daumen berühren")
    #expect(text(.touch(swipe: true, finger: .leftThumb), german) == "den linken Daumen ziehen (sudo)")
    #expect(text(.touch(swipe: true, finger: .leftRing), german) == "left ring finger ziehen (sudo)")
    #expect(text(.noMatch(triesLeft: 3), german) == "noch 3")
    #expect(text(.timedOut, german) == "No finger was seen in time.")
  }

  @Test func `the kernel's text consoles, which show boxes for Japanese, get English`() {
    let japanese = ["No finger was seen in time.": "時間内に指が検出されませんでした。"]
    #expect(text(.timedOut, japanese) == "時間内に指が検出されませんでした。")
    #expect(text(.timedOut, japanese, onTextConsole: true) == "No finger was seen in time.")
    let french = ["No finger was seen in time.": "Aucun doigt n’a été détecté à temps\u{a0}!"]
    #expect(text(.timedOut, french, onTextConsole: true) == "Aucun doigt n’a été détecté à temps\u{a0}!")
    // tty1 to tty63; a serial line, /dev/tty and a terminal window are none.
    for (device, isConsole) in [
      (0x401, true), (0x43f, true), (0x400, false), (0x440, false), (0x500, false), (0x8801, false),
    ] {
      #expect(whorl_is_text_console(UInt64(device)) == isConsole)
    }
  }

  @Test func `a line that is too long ends with a whole character`() {
    for length in (TextLine.capacity - 40)..<TextLine.capacity {
      let long = text(
        .queued, service: String(repeating: "x", count: length),
        ["Waiting for the fingerprint reader ({service})": "指紋リーダー{service}指紋リーダー"])
      #expect(long.hasPrefix("指紋リーダーx"))
      #expect(!long.contains("\u{fffd}"))
      #expect(long.utf8.count < TextLine.capacity)
    }
  }

  @Test func `a service's name cannot write to the terminal nor run over the line`() {
    #expect(
      text(.touch(swipe: false, finger: nil), service: "a\u{1b}[2J\u{e4}") == "Touch the fingerprint reader (a?[2J??)")
    let long = text(.queued, service: String(repeating: "x", count: 10_000))
    #expect(long.utf8.count == TextLine.capacity - 1)
    #expect(long.hasPrefix("Waiting for the fingerprint reader (xxx"))
  }

  @Test func `each finger is known by its name on the bus and no other is`() {
    for finger in FingerName.allCases {
      let name = finger.name.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
      #expect(name.withCString { FingerName(name: $0) } == finger)
    }
    for name in ["", "any", "right-thumb ", "Right-thumb", "right-thumb-finger", "right-index"] {
      #expect(name.withCString { FingerName(name: $0) } == nil)
    }
  }

  @Test(arguments: [
    ("too-short", RetryReason.tooShort), ("center-finger", .centerFinger), ("remove-finger", .removeFinger),
    ("too-fast", .tooFast), ("general", .general), ("unheard-of", .general), ("", .general),
  ])
  func `each retry reason is understood`(name: String, reason: RetryReason) {
    #expect(name.withCString { RetryReason(name: $0) } == reason)
  }
}

@Suite struct TimeBudgetTests {
  @Test func `nothing before the first sign of life takes longer than two seconds`() {
    var budget = TimeBudget(now: 1000)
    #expect(budget.deadline == 2_001_000)
    budget.requestSent(now: 500_000, seconds: 300)
    #expect(budget.deadline == 2_001_000)
  }

  @Test func `a daemon that is just starting has three`() {
    var budget = TimeBudget(now: 1000)
    budget.daemonIsStarting()
    #expect(budget.deadline == 3_001_000)
    budget.requestSent(now: 2_900_000, seconds: 30)
    #expect(budget.deadline == 3_001_000)
  }

  @Test func `after it the person has the whole time and the daemon one second more`() {
    var budget = TimeBudget(now: 1000)
    budget.requestSent(now: 5000, seconds: 30)
    budget.heardDaemon()
    #expect(budget.deadline == 31_005_000)
  }

  @Test func `a time shorter than the opening ends first`() {
    var budget = TimeBudget(now: 0)
    budget.daemonIsStarting()
    budget.requestSent(now: 100, seconds: 1)
    #expect(budget.deadline == 2_000_100)
  }
}

@Suite struct TextTests {
  private func isPlain(_ bytes: [UInt8], limit: Int = 255) -> Bool {
    (bytes.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { text in
      text.baseAddress.map { isPlainText($0, limit: limit) } ?? false
    }
  }

  @Test func `names of every script are taken, up to the limit`() {
    for name in ["root", "a", "Jörg", "名前", "user@example.org", "dom\\user", "o'neill", "a b", "..", "😀", "~"] {
      #expect(isPlain(Array(name.utf8)), "\(name)")
    }
    #expect(isPlain(Array(repeating: 0x61, count: 255)))
    #expect(!isPlain(Array(repeating: 0x61, count: 256)))
    #expect(!isPlain([]))
  }

  @Test func `every scalar but the control characters passes, in its shortest form alone`() {
    for value in stride(from: UInt32(1), through: 0x10ffff, by: 37) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isControl = value < 0x20 || (0x7f..<0xa0).contains(value)
      #expect(isPlain(Array(String(Character(scalar)).utf8)) == !isControl, "\(value)")
    }
  }

  @Test(arguments: [
    [0xff], [0x80], [0xc0, 0xaf], [0xc1, 0xbf], [0xe0, 0x80, 0xaf], [0xf0, 0x80, 0x80, 0xaf], [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc3], [0xe2, 0x82], [0x61, 0xe2, 0x28, 0xa1], [0x0a], [0x7f],
    [0xc2, 0x85], [0x1b],
  ])
  func `what is no UTF-8 or a control character is refused`(bytes: [UInt8]) {
    #expect(!isPlain(bytes))
    #expect(!isPlain([0x61] + bytes + [0x61]))
  }

  @Test func `numbers and texts are written as they are`() {
    let text = withTextLine { line in
      line.append(UInt32(0))
      line.append(" ")
      line.append(UInt32.max)
      return line.withText { String(cString: $0) }
    }
    #expect(text == "0 4294967295")
  }

  @Test func `texts are compared to their last byte`() {
    #expect("debug".withCString { equals($0, "debug") })
    #expect(!"debug".withCString { equals($0, "debu") })
    #expect(!"debu".withCString { equals($0, "debug") })
    #expect("".withCString { equals($0, "") })
    #expect("timeout=3".withCString { hasPrefix($0, "timeout=") })
    #expect(!"time".withCString { hasPrefix($0, "timeout=") })
  }
}
