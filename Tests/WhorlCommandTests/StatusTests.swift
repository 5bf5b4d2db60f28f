import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

@Suite struct StatusTests {
  private var complete: WhorlStatus {
    var status = WhorlStatus()
    status.version = "0.1.0"
    status.deviceKey = "host"
    status.readers = [reader("Fake Reader", "fake", "press")]
    status.enrolled = ["right-index-finger"]
    status.biometry = "available"
    status.missesAllowed = 5
    status.passcode = "set"
    return status
  }

  private func reader(_ name: String, _ driver: String, _ scanType: String) -> WhorlStatus.Reader {
    var reader = WhorlStatus.Reader()
    reader.name = name
    reader.driver = driver
    reader.scanType = scanType
    return reader
  }

  private func report(_ status: WhorlStatus, _ wiring: PAMWiring = PAMWiring()) -> StatusReport {
    StatusReport(.success(status), wiring, user: "paul")
  }

  @Test func `with everything there nothing is left to do but the caveat about the data`() {
    let wiring = PAMWiring(services: ["login", "sudo"], hasFiles: true)
    let report = report(complete, wiring)
    #expect(report.failure == nil)
    #expect(
      report.lines == [
        "daemon       running, version 0.1.0",
        "reader       Fake Reader (fake), press",
        "fingers      right-index-finger (of paul)",
        "passcode     your login password",
        "data safety  secrets that are always accessible are as safe as the device key on the same disk,",
        "             and nothing else seals that key: whoever copies the disk can read them",
        "             -> encrypt the disk; on a machine with a TPM the key is sealed with that as well, which is safer",
        "logins       a finger does for login, sudo",
      ])
  }

  @Test func `the finger is switched on with what the machine has`() {
    let own = report(complete, PAMWiring(hasFiles: true)).lines
    #expect(own.contains { $0.contains("-> to switch it on: sudo whorl pam enable sudo") })
    let one = report(complete, PAMWiring(services: ["sudo"], hasFiles: true)).lines
    #expect(one.contains { $0.contains("-> to switch it on: sudo whorl pam enable login") })
    #expect(!(own + one).contains { $0.contains("pam-auth-update") })
    let debian = report(complete, PAMWiring(hasFiles: true, hasPAMAuthUpdate: true)).lines
    #expect(debian.contains { $0.contains("-> to switch it on: sudo pam-auth-update --enable whorl") })
  }

  @Test func `who asks for the password is named, and what to start where nobody does`() {
    var status = complete
    status.agent = "service"
    #expect(report(status).lines.contains("agent        a service of yours"))
    status.agentProgram = "whorl"
    status.agentProcess = 12
    #expect(report(status).lines.contains("agent        a service of yours (whorl, process 12)"))
    status.agent = "session"
    #expect(report(status).lines.contains("agent        one in a session of yours (whorl, process 12)"))
    status.agent = "none"
    let lines = report(status).lines
    let index = lines.firstIndex { $0.hasPrefix("agent        none") } ?? 0
    #expect(lines[index + 1].contains("systemctl --user start whorl-agent"))
    #expect(report(status).failure == nil, "secrets can be had by a finger or on a terminal all the same")
  }

  @Test func `the caveat about the data is there whatever seals the key`() {
    for key in ["host", "host+tpm2", "unavailable", ""] {
      var status = complete
      status.deviceKey = key
      let text = report(status).lines.joined(separator: "\n")
      #expect(text.contains("secrets that are always accessible are as safe as the device key on the same disk"))
      #expect(text.contains("TPM"))
    }
  }

  @Test func `each missing part has its exit code and a line with what to do`() {
    var noReader = complete
    noReader.readers = []
    noReader.biometry = "no-reader"
    noReader.biometryError = "blocked by policy: /dev/bus/usb/001/004"
    #expect(report(noReader).failure?.code == .noReader)
    #expect(report(noReader).lines.contains { $0.contains("blocked by policy") })

    var failed = complete
    failed.biometry = "failed"
    failed.biometryError = "the reader is in use"
    #expect(report(failed).failure?.code == .noReader)
    #expect(report(failed).lines.contains { $0.contains("in use") })

    var noFingers = complete
    noFingers.enrolled = []
    #expect(report(noFingers).failure?.code == .noFingers)

    var unregistered = complete
    unregistered.biometry = "not-enrolled"
    unregistered.unregistered = ["right-index-finger"]
    #expect(report(unregistered).failure?.code == .noFingers)

    var locked = complete
    locked.isLockedOut = true
    locked.misses = 5
    #expect(report(locked).failure?.code == .lockedOut)

    var noKey = complete
    noKey.deviceKey = "unavailable"
    noKey.deviceKeyError = "systemd-creds is missing"
    #expect(report(noKey).failure?.code == .storeUnavailable)

    var noStore = complete
    noStore.storeError = "the store was written by a newer Whorl"
    #expect(report(noStore).failure?.code == .storeUnavailable)

    for report in [noReader, failed, noFingers, unregistered, locked, noKey, noStore].map({ report($0) }) {
      #expect(report.lines.contains { $0.contains("-> ") })
      #expect(report.failure?.message.contains("\n") == false)
    }
  }

  @Test func `prints that fprintd enrolled are none for secrets, and said to be`() {
    var status = complete
    status.unregistered = status.enrolled
    for biometry in ["available", "not-enrolled"] {
      status.biometry = biometry
      let report = report(status)
      #expect(report.failure?.code == .noFingers)
      #expect(report.lines.filter { $0.contains("they open logins, but no secret") }.count == 1)
      #expect(report.lines.filter { $0.contains("-> let them, with your password: whorl adopt") }.count == 1)
    }
    status.enrolled.append("left-thumb")
    status.biometry = "available"
    #expect(report(status).failure == nil, "one that counts is enough")
    #expect(report(status).lines.contains { $0.contains("for logins only: right-index-finger") })
    #expect(report(status).lines.contains { $0.hasSuffix("too: whorl adopt right-index-finger") })
  }

  @Test func `a reader that is not trusted is said to open logins alone`() {
    var status = complete
    status.readers[0].enrolled = status.enrolled
    status.biometry = "not-trusted"
    var report = report(status)
    #expect(report.failure?.code == .noReader)
    #expect(report.failure?.message.hasSuffix("whorl reader trust") == true)
    #expect(report.lines.contains { $0.hasSuffix("-> if you know it: whorl reader trust") })
    // Beside one that is trusted nothing is missing.
    var other = status.readers[0]
    other.isTrusted = true
    status.readers.append(other)
    status.biometry = "available"
    report = self.report(status)
    #expect(report.failure == nil)
    #expect(report.lines.filter { $0.contains("not trusted with your secrets") }.count == 1)
    // One that sees none of the fingers that count is nobody's concern.
    status.readers[0].enrolled = []
    #expect(!self.report(status).lines.contains { $0.contains("not trusted") })
  }

  @Test func `without polkit nobody enrols, and the advice begins with the package`() {
    var status = complete
    let wiring = PAMWiring()
    func report(_ hasPolkit: Bool) -> StatusReport {
      StatusReport(.success(status), wiring, user: "paul", hasPolkit: hasPolkit)
    }
    #expect(!report(true).lines.contains { $0.contains("polkit") })
    #expect(report(false).lines.contains { $0.contains("-> install the Debian package polkitd") })
    #expect(report(false).failure == nil, "what is enrolled works")
    status.enrolled = []
    #expect(report(false).failure?.code == .noFingers)
    let told = report(false).lines + [report(false).failure?.message ?? ""]
    for line in told where line.contains("whorl enroll") { #expect(line.contains("polkitd"), "\(line)") }
    #expect(told.contains { $0.contains("whorl enroll") })
  }

  @Test func `a reader that is too hot is told once`() {
    var status = complete
    status.biometry = "no-reader"
    status.biometryError = "The fingerprint reader is too hot (it rests for another 20 s); let it cool down."
    status.readers[0].state = "too-hot"
    status.readers[0].stateDetail = status.biometryError
    let report = report(status)
    #expect(report.failure?.code == .noReader)
    #expect(report.lines.filter { $0.contains("too hot") }.count == 1, "\(report.lines)")
  }

  @Test func `a lockout is told though no finger or no reader is left, and its last line does not name itself`() {
    var status = complete
    status.isLockedOut = true
    status.misses = 5
    status.biometry = "not-enrolled"
    status.enrolled = []
    #expect(report(status).lines.contains { $0.contains("-> end that with your password: whorl verify") })
    status.readers = []
    status.biometry = "no-reader"
    #expect(report(status).lines.contains { $0.contains("-> end that with your password: whorl verify") })
    #expect(report(status).failure?.message.contains("whorl status") == false)
  }

  @Test func `what is kept under a former name of the account has its remedies`() {
    var status = complete
    status.enrolled = []
    status.formerName = "paula"
    #expect(report(status).lines.contains { $0.contains("sudo whorl rename-user paula paul;") })
    #expect(report(status).failure?.code == .storeUnavailable)
    #expect(!report(status).lines.contains { $0.contains("whorl enroll") })
    status.enrolled = complete.enrolled
    #expect(report(status).failure == nil, "he has fingers of his own")
  }

  @Test func `without a reader nothing is said to be missing of the fingers, and one remedy is named`() {
    var status = complete
    status.readers = []
    status.enrolled = []
    status.biometry = "no-reader"
    status.biometryError = "No fingerprint reader is there that libfprint knows; plug one in."
    let lines = report(status).lines
    #expect(lines.contains("fingers      shown when a reader is there"))
    #expect(!lines.contains { $0.contains("whorl enroll") })
    #expect(lines.contains("             -> plug one in"))
    #expect(lines.filter { $0.contains("plug one in") }.count == 1)
  }

  @Test func `a store that cannot be read is told once, and nothing is said of who enrolled the fingers`() {
    var status = complete
    status.storeError = "The keychain of paul is damaged; restore it from a backup."
    status.biometry = "failed"
    status.biometryError = status.storeError
    status.unregistered = status.enrolled
    let report = report(status)
    #expect(report.failure?.code == .storeUnavailable)
    let told = report.lines + [report.failure?.message ?? ""]
    #expect(told.filter { $0.contains("is damaged") }.count == 1)
    #expect(!told.contains { $0.contains("not enrolled with Whorl") || $0.contains("..") || $0.contains(".;") })
  }

  @Test func `readers that do not work are told apart, and busy is no failure`() {
    func report(_ state: String, _ detail: String = "") -> StatusReport {
      var status = complete
      status.readers[0].state = state
      status.readers[0].stateDetail = detail
      return self.report(status)
    }
    #expect(report("ok").failure == nil)
    #expect(report("").failure == nil, "an older daemon says nothing")
    #expect(report("busy", "the verification of ada").failure == nil)
    #expect(report("busy", "the verification of ada").lines.contains { $0.contains("in use now: the verification of") })
    #expect(report("blocked", "Permission denied.").failure?.code == .noReader)
    #expect(report("blocked", "Permission denied.").lines.contains { $0.contains("blocked: permission denied") })
    #expect(report("too-hot").failure?.code == .noReader)
    #expect(report("too-hot").lines.contains { $0.contains("too hot") })
    #expect(report("too-hot").lines.contains { $0.contains("-> let it cool down") })
    #expect(report("failed", "The driver gave up; unplug the reader.").failure == nil)
    #expect(report("failed", "The driver gave up; unplug the reader.").lines.contains { $0.contains("-> unplug") })
    let messages = ["blocked", "too-hot"].map { report($0).failure?.message ?? "" }
    #expect(Set(messages).count == 2)
  }

  @Test func `a reader that is not supported, or blocked, is not told as none`() {
    var status = complete
    status.readers = []
    status.enrolled = []
    status.biometry = "no-reader"
    var device = WhorlStatus.UnlistedReader()
    device.usbID = "04f3:0c4c"
    device.node = "/dev/bus/usb/001/004"
    status.unlisted = [device]
    let unsupported = report(status)
    #expect(unsupported.failure?.code == .noReader)
    #expect(unsupported.failure?.message.contains("not supported") == true)
    #expect(unsupported.lines.contains { $0.contains("04f3:0c4c is one that libfprint does not support") })
    status.unlisted[0].isSupported = true
    let blocked = report(status)
    #expect(blocked.failure?.code == .noReader)
    #expect(blocked.failure?.message.contains("blocked") == true)
    #expect(blocked.lines.contains { $0.contains("/dev/bus/usb/001/004") })
    status.unlisted = []
    #expect(report(status).failure?.message.contains("there is no reader") == true)
  }

  @Test func `what the chip lost, and what is nobody's on it, is named`() {
    var status = complete
    status.enrolled = ["right-index-finger", "left-thumb"]
    status.readers[0].enrolled = status.enrolled
    status.readers[0].chipLost = ["left-thumb"]
    status.readers[0].chipForeign = 3
    let some = report(status)
    #expect(some.failure == nil)
    #expect(some.lines.contains { $0.contains("lost by its chip: left-thumb") })
    #expect(some.lines.contains { $0.contains("-> enrol again") })
    #expect(some.lines.contains { $0.contains("3 prints on its chip nobody") })
    status.readers[0].chipLost = status.enrolled
    #expect(report(status).failure?.code == .noFingers)
  }

  @Test func `with several readers each has its fingers`() {
    var status = complete
    status.readers.append(reader("Second", "other", "swipe"))
    status.readers[0].enrolled = ["right-index-finger"]
    let lines = report(status).lines
    #expect(lines.contains("             fingers on it: right-index-finger"))
    #expect(lines.contains("             no finger enrolled on it"))
  }

  @Test func `fingers of a former account of that name are named, with what removes them`() {
    var status = complete
    status.enrolled = []
    status.biometry = "not-enrolled"
    status.formerPrints = 1007
    let report = report(status)
    #expect(report.failure?.code == .noFingers)
    #expect(report.lines.contains { $0.contains("former account paul (uid 1007)") })
    #expect(report.lines.contains { $0.contains("whorl forget --uid 1007") })
  }

  @Test func `without the daemon the logins are still shown`() {
    let wiring = PAMWiring(services: ["sudo"], hasFiles: true)
    let report = StatusReport(.failure(WhorlError(.noDaemon, "no such name")), wiring, user: "paul")
    #expect(report.failure?.code == .noDaemon)
    #expect(report.lines.first == "daemon       not there")
    #expect(report.lines.filter { $0.contains("sudo systemctl start whorld") }.count == 1)
    #expect(report.failure?.message == "the daemon is not there; the report says what to do")
    #expect(report.lines.contains { $0.contains("a finger does for sudo") })
  }

  @Test func `an encrypted home is named, and whether it is closed now`() {
    var status = complete
    #expect(!report(status).lines.contains { $0.hasPrefix("home") })
    status.homeKeeper = "systemd-homed"
    #expect(
      report(status).lines.contains("home         encrypted (systemd-homed), which your password alone opens;"))
    #expect(report(status).lines.contains("             a login while it is closed takes no finger"))
    status.isHomeLocked = true
    #expect(report(status).lines.contains("             it is closed now, so that logins take no finger"))
    #expect(report(status).failure == nil)
  }

  @Test func `what a device calls itself cannot steer the terminal`() {
    var status = complete
    status.version = "\u{1B}[2J"
    status.readers = [reader("\u{1B}]0;x\u{7}", "d\nd", "\u{9B}m")]
    status.readers[0].state = "blocked"
    status.readers[0].stateDetail = "\u{1B}c\n"
    status.readers[0].chipLost = ["\u{1B}"]
    status.enrolled = ["left\u{1B}"]
    status.unreadable = ["\r"]
    status.unregistered = ["\u{202E}"]
    status.biometry = "failed"
    status.biometryError = "\u{1B}c\n"
    status.deviceKey = "x"
    status.deviceKeyError = "\u{1B}c\n"
    let wiring = PAMWiring(services: ["su\u{1B}do"], unreadable: ["/etc/\n"], hasFiles: true)
    let report = StatusReport(.success(status), wiring, user: "p\u{7}")
    for line in report.lines + [report.failure?.message ?? ""] {
      #expect(!line.unicodeScalars.contains { $0.value < 32 || (0x7F..<0xA0).contains($0.value) || $0.value == 0x202E })
    }
  }

  @Test @GLibActor
  func `status prints its report, ends with 0 when all is there, and needs no login to use the finger`() async {
    GLibLoop.startThread()
    let fixture = Fixture()
    fixture.service.statusAnswer = complete
    #expect(await fixture.run("status") == .ok)
    #expect(fixture.console.printed.count > 5)
    #expect(fixture.console.complaints.isEmpty)
    fixture.service.statusAnswer.enrolled = []
    #expect(await fixture.run("status") == .noFingers)
    #expect(fixture.console.complaints.count == 1)
  }
}
