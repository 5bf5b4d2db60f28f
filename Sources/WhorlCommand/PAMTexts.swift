import PAMStacks

/// What `whorl pam` says.
enum PAMTexts {
  static func word(_ outcome: PAMOutcome) -> String {
    switch (outcome.mayGrant, outcome.mayDeny) {
    case (true, false): "granted"
    case (true, true): "depends"
    default: "denied"
    }
  }

  /// The place of the line that asks for a finger.
  static func place(of verdict: ServiceVerdict) -> String {
    guard let step = verdict.fingerStep else { return "nothing" }
    return "line \(step.line) of \(Escaping.line(step.file, limit: 256))"
  }

  /// How to get rid of a line that `whorl pam enable` did not put in.
  static func takeOut(_ verdict: ServiceVerdict) -> String {
    guard let file = verdict.fingerStep?.file else { return "take it out by hand" }
    return file.hasSuffix("/common-auth")
      ? "that is pam-auth-update's: sudo pam-auth-update --disable whorl" : "take it out by hand"
  }

  /// How a finger is switched on for all services at once, where a tool of the distribution's does that.
  static func whole(_ files: PAMFiles) -> String? {
    guard let own = files.places.folders.first else { return nil }
    if files.isManaged("\(own)/common-auth") {
      return "For all services at once: sudo pam-auth-update --enable whorl; whorl pam enable is for one alone."
    }
    return nil
  }

  /// There is nothing to tell of below the root.
  static func none(_ files: PAMFiles) -> CommandFailure {
    let folder = Escaping.shown(files.places.folders.first ?? "/etc/pam.d", limit: 256)
    return CommandFailure(
      .notFound, "there are no PAM files below \(folder); --root takes the top folder of a system that has some")
  }

  // MARK: - Faults

  static func word(_ fault: ServiceVerdict.Fault) -> String {
    switch fault {
    case .refused: "refused"
    case .unjudged: "unjudged"
    case .doubtful: "doubtful"
    case .open: "open"
    case .passwordIsClosed: "password-closed"
    case .matchIsClosed: "match-closed"
    case .bypassed: "bypassed"
    case .moduleIsMissing: "module-missing"
    case .asksTwice: "asks-twice"
    }
  }

  static func line(_ fault: ServiceVerdict.Fault, _ verdict: ServiceVerdict) -> String {
    (verdict.isSerious(fault) ? "WRONG: " : "") + words(fault, verdict)
  }

  private static func words(_ fault: ServiceVerdict.Fault, _ verdict: ServiceVerdict) -> String {
    switch fault {
    case .refused(let why): "PAM refuses everybody: \(Escaping.line(why, limit: 512))"
    case .unjudged(let why):
      "nothing can be said of it: \(Escaping.line(why, limit: 512)); look for a file that includes itself"
    case .doubtful(let why): "versions of PAM differ about it: \(Escaping.line(why, limit: 512))"
    case .open:
      "lets in anybody, without a match or the right password; end its auth lines with: auth required pam_deny.so"
    case .passwordIsClosed: "the right password does not always let in"
    case .matchIsClosed: "a match does not always let in"
    case .bypassed(let what):
      "a match passes by what every password has to pass: \(Escaping.line(what, limit: 512))"
    case .moduleIsMissing: "\(ServiceVerdict.module) is not installed"
    case .asksTwice: "asks for the finger more than once; whorl pam disable \(Escaping.operand(verdict.service))"
    }
  }

  static func json(_ verdict: ServiceVerdict) -> JSONText {
    func outcome(_ outcome: PAMOutcome, _ isAsked: Bool) -> JSONText {
      isAsked && verdict.isJudged ? .text(word(outcome)) : .null
    }
    return .object([
      .init("service", .text(verdict.service)), .init("finger", .flag(verdict.hasFinger)),
      .init("password", .flag(verdict.hasPassword)), .init("match", outcome(verdict.match, verdict.hasFinger)),
      .init("noMatch", outcome(verdict.noMatch, verdict.hasFinger)),
      .init("unavailable", outcome(verdict.unavailable, verdict.hasFinger)),
      .init("rightPassword", outcome(verdict.rightPassword, verdict.hasPassword)),
      .init("wrongPassword", outcome(verdict.wrongPassword, true)), .init("alsoLetsIn", .texts(verdict.alsoLetsIn)),
      .init("faults", .texts(verdict.faults.map { word($0) })),
      .init("details", .texts(verdict.faults.map { words($0, verdict) })),
    ])
  }

  // MARK: - Failures

  static func failure(_ problem: ServiceFile.Problem, _ service: String) -> CommandFailure {
    let name = Escaping.quoted(service)
    return switch problem {
    case .badName, .notThere:
      CommandFailure(.notFound, "no PAM service is called \(name); whorl pam status lists them")
    case .link(let target):
      CommandFailure(
        .failed, "\(name) is a link to \(Escaping.quoted(target)) and is left alone; edit what it leads to by hand")
    case .notFile: CommandFailure(.failed, "\(name) is no file that PAM could read; nothing was changed")
    case .managed(.pamAuthUpdate):
      CommandFailure(
        .failed, "\(name) is pam-auth-update's and is left alone; for all services: sudo pam-auth-update --enable whorl"
      )
    case .managed(.authselect):
      CommandFailure(
        .failed,
        "\(name) is authselect's and is left alone; add the line to a profile of your own (authselect "
          + "create-profile), as man pam_whorl shows it")
    case .managed(.nixos):
      CommandFailure(
        .failed,
        "\(name) is made from the NixOS configuration and is left alone; set "
          + "security.pam.services.\(Escaping.shown(service, limit: 64)) there")
    case .othersWrite(let place):
      CommandFailure(
        .failed,
        "others than root can write \(Escaping.quoted(place)), and could lead the edit elsewhere; run whorl pam as its owner, "
          + "or make it root's alone. Nothing was changed")
    case .changed: CommandFailure(.failed, "\(name) was changed by somebody else just now; look at it, then try again")
    case .failed(let what, let code):
      CommandFailure(
        code == 13 || code == 1 ? .notAllowed : .failed,
        "cannot \(Escaping.line(what, limit: 512)): \(SystemText.error(code)); nothing was changed")
    case .noBackup(let path):
      CommandFailure(.notFound, "there is no copy of how \(name) was (\(path)); whorl pam disable takes the line out")
    }
  }

  static func failure(_ refusal: WiringEdit.Refusal, _ service: String) -> CommandFailure {
    let name = Escaping.quoted(service)
    return switch refusal {
    case .noOwnLines:
      CommandFailure(
        .failed,
        "\(name) has no auth lines of its own, those of \"other\" serve; write its stack by hand, as man "
          + "pam_whorl shows it")
    case .unusable(let why):
      CommandFailure(
        .failed, "\(name) is left alone, for its stack cannot be judged: \(Escaping.line(why, limit: 512))")
    case .noPassword:
      CommandFailure(
        .failed,
        "\(name) asks for no password beside which a finger could stand; write its stack by hand, as man "
          + "pam_whorl shows it")
    case .open:
      CommandFailure(
        .failed,
        "\(name) lets in anybody without a match or the right password; end its auth lines with "
          + "\"auth required pam_deny.so\" first")
    case .passwordIsClosed:
      CommandFailure(
        .failed,
        "\(name) does not let in with the right password as it is; whorl pam check \(Escaping.operand(service)) "
          + "shows it")
    case .changesOthers:
      CommandFailure(
        .failed,
        "\(name) has no place for the line where it would not change what happens without a finger; write it by "
          + "hand and look with whorl pam check")
    case .matchIsClosed:
      CommandFailure(.failed, "\(name) has no place for the line where a match would let in; write its stack by hand")
    case .bypasses(let what):
      CommandFailure(
        .failed,
        "\(name): a match would pass by \(Escaping.line(what, limit: 512)), which every password has to pass; "
          + "put the line behind it by hand, or leave it")
    case .harms(let other):
      CommandFailure(
        .failed,
        "\(name) is included by \(Escaping.quoted(other)), which the line would harm; write it by hand and look "
          + "with whorl pam check")
    case .foreignLine(let line):
      CommandFailure(
        .failed, "\(name): line \(line) asks for the finger, and whorl pam did not put it there; take it out by hand")
    case .leapedOver(let line):
      CommandFailure(
        .failed, "\(name): an earlier line leaps over line \(line); take it out by hand and shorten that leap by one")
    }
  }
}
