import WhorlClient

/// What `whorl status` shows: a line for each part, and below it what to do where the part is missing.
struct StatusReport: Sendable, Equatable {
  private(set) var lines: [String] = []
  /// The first thing that stands in the way of secrets behind a finger; nil where all is there.
  private(set) var failure: CommandFailure?

  /// What stands before `whorl enroll` where polkit is not there to allow it.
  private var beforeEnrolling = ""

  /// - Parameters:
  ///   - invoker: who called root's command through sudo, where somebody did: the report is not about them.
  ///   - hasPolkit: whether polkit is on this machine, without which nobody enrols.
  init(
    _ answer: Result<WhorlStatus, WhorlError>, _ wiring: PAMWiring, user: String, invoker: String? = nil,
    hasPolkit: Bool = true
  ) {
    if !hasPolkit { beforeEnrolling = "install polkit (Debian package polkitd), then " }
    if let invoker {
      add(
        "account", "\(Escaping.shown(user, limit: 64)), for the command runs under sudo",
        todo: "that of \(Escaping.shown(invoker, limit: 64)), without sudo: whorl status")
    }
    switch answer {
    case .success(let status):
      let version = status.version.isEmpty ? "" : ", version \(Escaping.shown(status.version, limit: 32))"
      add("daemon", "running\(version)\(status.isPrivate ? ", in private mode" : "")")
      addReaders(status)
      if !hasPolkit {
        add(
          "polkit", "not installed; without it nobody, not even root, can enrol, delete or verify a finger",
          todo: "install the Debian package polkitd")
      }
      addFingers(status, user: user)
      addBiometry(status)
      addPasscode(status)
      addAgent(status)
      addHome(status)
      addKeybag(status)
      addSafety(status)
    case .failure(let problem):
      let failure = problem.failure(about: "daemon")
      add("daemon", "not there", todo: String(failure.message.dropFirst("daemon: ".count)))
      miss(CommandFailure(failure.code, "the daemon is not there; \(Self.above)"))
    }
    addLogins(wiring)
    if case .success(let status) = answer { addRefusals(status) }
    guard invoker != nil else { return }
    lines = lines.map(Hints.aboutRoot)
    failure = failure.map { CommandFailure($0.code, Hints.aboutRoot($0.message)) }
  }

  // MARK: - Parts

  private mutating func addReaders(_ status: WhorlStatus) {
    guard !status.readers.isEmpty else {
      guard status.unlisted.isEmpty else { return addUnlisted(status) }
      // A store that cannot be read is told in its own place.
      let (reason, remedy) = Escaping.parts(status.storeError.isEmpty ? clause(status.biometryError) : "")
      let todo =
        remedy
        ?? "if the machine has one, lsusb shows its numbers and libfprint's device list says whether it is supported"
      add("reader", reason.isEmpty ? "none found" : "none to use: \(reason)", todo: todo)
      return miss(CommandFailure(.noReader, "there is no reader to use; \(Self.above)"))
    }
    for reader in status.readers {
      let name = "\(Escaping.shown(reader.name, limit: 64)) (\(Escaping.shown(reader.driver, limit: 64)))"
      add("reader", "\(name), \(Escaping.shown(reader.scanType, limit: 32))")
      addState(of: reader)
      if status.readers.count > 1 {
        add("", reader.enrolled.isEmpty ? "no finger enrolled on it" : "fingers on it: \(list(reader.enrolled))")
      }
      addChip(of: reader)
      addTrust(of: reader, status)
    }
    if status.biometry == "not-trusted" {
      miss(
        CommandFailure(
          .noReader, "no reader is trusted with the secrets of this account yet; approve it: whorl reader trust"))
    }
    if status.biometry == "no-reader" || (status.biometry == "failed" && status.storeError.isEmpty) {
      let (reason, remedy) = Escaping.parts(clause(status.biometryError))
      // A reader that says itself what is the matter with it is not told twice.
      let isTold =
        status.biometry == "no-reader" && status.readers.contains { ["blocked", "too-hot"].contains($0.state) }
      if !isTold {
        add(
          "", reason.isEmpty ? "it cannot be used" : reason,
          todo: remedy ?? "try again later; journalctl -u whorld says more")
      }
      // A damaged print is told as this, too: then it is the fingers that are missing.
      if status.unreadable.isEmpty {
        miss(CommandFailure(.noReader, "the reader or its prints cannot be used; \(Self.above)"))
      } else {
        miss(CommandFailure(.noFingers, "an enrolled print is damaged; \(Self.above)"))
      }
    }
  }

  /// Devices that are readers, and yet there is none to use.
  private mutating func addUnlisted(_ status: WhorlStatus) {
    var label = "reader"
    for device in status.unlisted {
      let id = Escaping.shown(device.usbID, limit: 32)
      if device.isSupported {
        add(
          label,
          "none to use: \(id) is one, but whorl-reader cannot get at it (\(Escaping.shown(device.node, limit: 64)))",
          todo: "it is blocked by its mode or a policy, or in use: look whether Whorl's udev rules are installed, "
            + "plug it in again or, where it is built in, restart")
      } else {
        add(
          label, "none to use: \(id) is one that libfprint does not support",
          todo: "use another one; https://fprint.freedesktop.org lists those that work")
      }
      label = ""
    }
    let isBlocked = status.unlisted.contains(where: \.isSupported)
    miss(
      CommandFailure(
        .noReader, "the reader that is there \(isBlocked ? "is blocked" : "is not supported"); \(Self.above)"))
  }

  private mutating func addState(of reader: WhorlStatus.Reader) {
    let (what, remedy) = Escaping.parts(clause(reader.stateDetail))
    let name = Escaping.shown(reader.name, limit: 64)
    switch reader.state {
    case "busy": add("", "in use now\(what.isEmpty ? "" : ": \(what)")")
    case "blocked":
      add(
        "", "blocked: \(what.isEmpty ? "the kernel does not let whorl-reader open it" : what)",
        todo: "look whether Whorl's udev rules are installed and what mode its device has, then plug it in again "
          + "or, where it is built in, restart")
      miss(CommandFailure(.noReader, "the reader \(name) is blocked; \(Self.above)"))
    case "too-hot":
      add("", what.isEmpty ? "too hot" : what, todo: remedy ?? "let it cool down for some minutes")
      miss(CommandFailure(.noReader, "the reader \(name) is too hot; \(Self.above)"))
    case "failed":
      add(
        "", "failed when last used: \(what.isEmpty ? "it does not say why" : what)",
        todo: remedy ?? "try again; if it stays so, journalctl -u whorld says more")
    default: break
    }
  }

  private mutating func addChip(of reader: WhorlStatus.Reader) {
    if !reader.chipLost.isEmpty {
      add("", "lost by its chip: \(list(reader.chipLost))", todo: again(reader.chipLost))
      if reader.enrolled.allSatisfy(reader.chipLost.contains) {
        miss(CommandFailure(.noFingers, "the reader's chip has lost the enrolled fingers; \(Self.above)"))
      }
    }
    if reader.chipForeign > 0 {
      let prints = reader.chipForeign == 1 ? "1 print" : "\(reader.chipForeign) prints"
      add("", "\(prints) on its chip nobody on this machine has; room is made when the chip is full")
    }
  }

  /// That a reader sees fingers that count, and yet opens no secret.
  private mutating func addTrust(of reader: WhorlStatus.Reader, _ status: WhorlStatus) {
    guard !reader.isTrusted, !reader.enrolled.allSatisfy(status.unregistered.contains),
      status.biometry == "not-trusted" || status.readers.contains(where: \.isTrusted)
    else { return }
    add("", "not trusted with your secrets yet: it opens logins alone", todo: "if you know it: whorl reader trust")
  }

  private mutating func addFingers(_ status: WhorlStatus, user: String) {
    let owner = Escaping.shown(user, limit: 64)
    // Without a reader nobody looked for fingers, and without the store nobody knows which of them count.
    guard !status.readers.isEmpty else { return add("fingers", "shown when a reader is there") }
    let isUnsure = status.biometry == "failed" || !status.storeError.isEmpty
    if status.enrolled.isEmpty, status.formerName != nil {
      add("fingers", "none of \(owner)")
    } else if status.enrolled.isEmpty, isUnsure {
      add("fingers", status.unreadable.isEmpty ? "none of \(owner) can be seen now" : "none of \(owner) can be read")
    } else if status.enrolled.isEmpty {
      add("fingers", "none of \(owner)", todo: "\(beforeEnrolling)enrol one: whorl enroll")
      miss(
        CommandFailure(
          .noFingers, "no finger of \(owner) is enrolled; \(beforeEnrolling)enrol one with: whorl enroll"))
    } else {
      add("fingers", "\(list(status.enrolled)) (of \(owner))")
      // Those that fprintd enrolled are as good as none for what status is about.
      if status.biometry == "not-enrolled" || (!isUnsure && status.unregistered.count == status.enrolled.count) {
        add(
          "", "they open logins, but no secret",
          todo: "let them, with your password: whorl adopt")
        miss(
          CommandFailure(.noFingers, "no finger of \(owner) may open secrets; let one with your password: whorl adopt"))
      }
    }
    if let former = status.formerName {
      add(
        "", "something is kept under the name \(Escaping.quoted(former)) that this uid had",
        todo: Hints.former(former, now: user))
      if status.enrolled.isEmpty || !status.storeError.isEmpty {
        miss(CommandFailure(.storeUnavailable, "what is kept for \(owner) is under a former name; \(Self.above)"))
      }
    }
    if let former = status.formerPrints {
      add(
        "", "fingers of a former account \(owner) (uid \(former)) are still stored, and count for nobody",
        todo: "the first enrolment removes them; so does an administrator: sudo whorl forget --uid \(former)")
    }
    if !status.unreadable.isEmpty {
      add("", "damaged: \(list(status.unreadable))", todo: again(status.unreadable))
    }
    if !status.unregistered.isEmpty, status.unregistered.count < status.enrolled.count, !isUnsure {
      add(
        "", "for logins only: \(list(status.unregistered))",
        todo: "to open secrets with one, too: whorl adopt \(Escaping.shown(status.unregistered[0], limit: 64))")
    }
  }

  private mutating func addBiometry(_ status: WhorlStatus) {
    if status.isLockedOut {
      if status.passcode == "not-set" {
        add(
          "lockout", "fingers are locked out after \(status.misses) misses",
          todo: "set a password: passwd; then: whorl verify")
        return miss(.lockedOutWithoutPassword("fingers"))
      }
      let todo = "end that with your password: whorl verify"
      add("lockout", "fingers are locked out after \(status.misses) misses", todo: todo)
      miss(CommandFailure(.lockedOut, "fingers are locked out after \(status.misses) misses; \(todo)"))
    } else if status.misses > 0 {
      add("lockout", "\(status.misses) of \(status.missesAllowed) misses so far; a match starts from 0 again")
    }
  }

  private mutating func addPasscode(_ status: WhorlStatus) {
    switch status.passcode {
    case "set": add("passcode", "your login password")
    case "not-set":
      add("passcode", "your account has no password, so that none can stand in for a finger", todo: "set one: passwd")
    default: add("passcode", "whorld cannot tell whether you have one", todo: "journalctl -u whorld says why")
    }
    if status.passcodeDelay > 0 {
      add("", "none is looked at for \(status.passcodeDelay) seconds, after wrong ones", todo: "wait, then try again")
    }
  }

  /// Who asks for the passcode in the place of programs that have no terminal.
  private mutating func addAgent(_ status: WhorlStatus) {
    let name = status.agentProgram.isEmpty ? "" : "\(Escaping.shown(status.agentProgram, limit: 32)), "
    let program = status.agentProcess.map { " (\(name)process \($0))" } ?? ""
    switch status.agent {
    case "session": add("agent", "one in a session of yours\(program)")
    case "service": add("agent", "a service of yours\(program)")
    case "none":
      add(
        "agent", "none: programs without a terminal cannot have you asked for your password",
        todo: "in your desktop session: systemctl --user start whorl-agent; without systemd: whorl agent")
    default: break
    }
  }

  private mutating func addHome(_ status: WhorlStatus) {
    guard !status.homeKeeper.isEmpty else { return }
    add(
      "home", "encrypted (\(Escaping.shown(status.homeKeeper, limit: 32))), which your password alone opens;",
      more: status.isHomeLocked
        ? "it is closed now, so that logins take no finger" : "a login while it is closed takes no finger")
  }

  private mutating func addKeybag(_ status: WhorlStatus) {
    let recovery = status.hasRecoveryKey ? "there is a recovery key" : "there is no recovery key"
    switch status.keybag {
    case "unlocked": add("keychain", "unlocked; \(recovery)")
    case "session-locked":
      add("keychain", "unlocked, but for secrets that wait until your session is; \(recovery)")
    case "locked":
      add("keychain", "locked but for secrets that are always accessible; \(recovery)", todo: "unlock it: whorl unlock")
    case "former-passcode-needed":
      add(
        "keychain", "locked, for your login password was changed since it last unlocked it",
        todo: "give the one from before once: whorl unlock")
    // No secret needs more than the device key yet.
    default: break
    }
  }

  private mutating func addSafety(_ status: WhorlStatus) {
    // Said whatever the key: nothing of the password is in the encryption of what is always accessible.
    let caveat = "secrets that are always accessible are as safe as the device key on the same disk"
    switch status.deviceKey {
    case "host+tpm2":
      add(
        "data safety", "\(caveat);",
        more: "this machine's TPM seals that key too, so a copied disk alone does not open them")
    case "host":
      add(
        "data safety", "\(caveat),", more: "and nothing else seals that key: whoever copies the disk can read them",
        todo: "encrypt the disk; on a machine with a TPM the key is sealed with that as well, which is safer")
    default:
      let (reason, remedy) = Escaping.parts(clause(status.deviceKeyError))
      let text = reason.isEmpty ? "whorld has no device key" : reason
      let todo = remedy ?? "look with: systemd-creds has-tpm2; journalctl -u whorld"
      add("data safety", "secrets cannot be stored or read: \(text)", todo: todo)
      add("", "\(caveat) (a TPM makes it safer)")
      miss(CommandFailure(.storeUnavailable, "the device key cannot be used; \(Self.above)"))
    }
    if !status.recoverableBy.isEmpty {
      let means = status.recoverableBy.contains("passcode") ? "your password" : "the recovery key"
      add("", "they can be brought back with \(means)", todo: "whorl recover")
    }
    // That of another account is told with the fingers.
    if !status.storeError.isEmpty, status.formerName == nil {
      // The store may say no more than that its key cannot be used.
      let key = clause(status.deviceKeyError)
      if key.isEmpty || !clause(status.storeError).contains(key) {
        let (text, remedy) = Escaping.parts(clause(status.storeError))
        add("", "the store cannot be read: \(text)", todo: remedy ?? "journalctl -u whorld says more")
      }
      miss(CommandFailure(.storeUnavailable, "the store cannot be read; \(Self.above)"))
    }
  }

  private mutating func addLogins(_ wiring: PAMWiring) {
    func enable(_ service: String) -> String {
      wiring.hasPAMAuthUpdate
        ? "to switch it on: sudo pam-auth-update --enable whorl"
        : "to switch it on: sudo whorl pam enable \(service)"
    }
    if wiring.services.isEmpty {
      if wiring.hasFiles {
        add("logins", "none asks for a finger", todo: enable("sudo"))
      } else {
        add("logins", "no PAM files found", todo: "look whether PAM is installed, and for /etc/pam.d")
      }
    } else {
      let names = wiring.services.map { Escaping.shown($0, limit: 64) }
      add("logins", "a finger does for \(names.joined(separator: ", "))")
      for usual in ["sudo", "login"] where !wiring.services.contains(usual) {
        add("", "\(usual) does not ask for a finger", todo: enable(usual))
      }
      if wiring.moduleIsMissing {
        add(
          "", "\(PAMWiring.module) itself is not installed", todo: "install Whorl again, or take it out of /etc/pam.d")
      }
    }
    for path in wiring.unreadable {
      add(
        "", "\(Escaping.shown(path, limit: 256)) cannot be read",
        todo: "look at its mode, or ask with sudo whorl status")
    }
  }

  /// Why a login asked for no finger lately, although it may.
  private mutating func addRefusals(_ status: WhorlStatus) {
    for refusal in status.loginRefusals {
      let (reason, remedy) = Escaping.parts(clause(refusal.reason))
      add(
        "", "\(Escaping.shown(refusal.service, limit: 64)) asked for no finger the last time: \(reason)", todo: remedy)
    }
  }

  /// The report has the whole sentence; the line after it does not repeat that.
  private static let above = "the report says what to do"

  /// Enrolling one of these fingers, by its name.
  private func enroll(_ fingers: [String]) -> String {
    "whorl enroll \(fingers.first.map { Escaping.shown($0, limit: 64) } ?? "")"
  }
  private func again(_ fingers: [String]) -> String { "\(beforeEnrolling)enrol again: \(enroll(fingers))" }
  private func clause(_ text: String) -> String { Escaping.clause(text, limit: 300) }

  private func list(_ fingers: [String]) -> String {
    fingers.map { Escaping.shown($0, limit: 64) }.joined(separator: ", ")
  }

  private mutating func add(_ label: String, _ text: String, more: String? = nil, todo: String? = nil) {
    let indent = String(repeating: " ", count: 13)
    lines.append(label.isEmpty ? indent + text : label + String(repeating: " ", count: 13 - label.count) + text)
    if let more { lines.append(indent + more) }
    if let todo { lines.append("\(indent)-> \(todo)") }
  }

  /// The first failure counts.
  private mutating func miss(_ failure: CommandFailure) {
    if self.failure == nil { self.failure = failure }
  }
}
