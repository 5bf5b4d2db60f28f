import GLibLoop
import PAMStacks

extension Commands {
  // MARK: - status

  func pamStatus(_ wirer: PAMWirer) async throws(CommandFailure) {
    let services = wirer.files.services
    guard !services.isEmpty else { throw PAMTexts.none(wirer.files) }
    var list = JSONList(console)
    for service in services {
      let verdict = ServiceVerdict(service: service, in: wirer.files)
      let asks = verdict.hasFinger && !verdict.stack.isOthers
      let step = asks ? verdict.fingerStep : nil
      if isJSON {
        try await list.add(
          .object([
            .init("service", .text(service)), .init("finger", .flag(asks)),
            .init("file", step.map { .text($0.file) } ?? .null), .init("line", step.map { .number($0.line) } ?? .null),
            .init("byWhorl", .flag(verdict.isMarked(in: wirer.files))),
            .init("faults", .texts(asks ? verdict.faults.map(PAMTexts.word) : [])),
          ]))
      } else {
        let name = Escaping.shown(service, limit: 64)
        let where_ = asks ? PAMTexts.place(of: verdict) : ""
        let ours = verdict.isMarked(in: wirer.files) ? ", by whorl pam enable" : ""
        try await console.print(asks ? "\(name)\tfinger\t\(where_)\(ours)" : "\(name)\tno finger")
        for fault in verdict.faults where asks { try await console.print("\t\(PAMTexts.line(fault, verdict))") }
      }
    }
    if isJSON { return try await list.end() }
    if let whole = PAMTexts.whole(wirer.files) { await console.tell(whole) }
  }

  // MARK: - check

  func pamCheck(_ wirer: PAMWirer, _ wanted: [String]) async throws(CommandFailure) {
    let known = wirer.files.services
    for service in wanted where !known.contains(service) {
      throw CommandFailure(
        .notFound, "no PAM service is called \(Escaping.quoted(service)); whorl pam status lists them")
    }
    let services = wanted.isEmpty ? known : wanted
    guard !services.isEmpty else { throw PAMTexts.none(wirer.files) }
    var list = JSONList(console)
    var faulty: [String] = []
    if !isJSON {
      try await console.print("service\tmatch\tno match\tno reader\tright password\twrong password")
    }
    for service in services {
      let verdict = ServiceVerdict(service: service, in: wirer.files)
      if verdict.isFaulty { faulty.append(Escaping.shown(service, limit: 64)) }
      if isJSON { try await list.add(PAMTexts.json(verdict)) } else { try await show(verdict) }
    }
    if isJSON { try await list.end() }
    guard !faulty.isEmpty else { return }
    throw CommandFailure(.failed, "wrong with \(faulty.joined(separator: ", ")); what is wrong stands below each")
  }

  private func show(_ verdict: ServiceVerdict) async throws(CommandFailure) {
    let outcomes: [PAMOutcome?] =
      (verdict.hasFinger ? [verdict.match, verdict.noMatch, verdict.unavailable] : [nil, nil, nil])
      + (verdict.hasPassword ? [verdict.rightPassword] : [nil]) + [verdict.wrongPassword]
    let words = outcomes.map { verdict.isJudged ? $0.map(PAMTexts.word) ?? "-" : "-" }
    try await console.print(([Escaping.shown(verdict.service, limit: 64)] + words).joined(separator: "\t"))
    for way in verdict.alsoLetsIn {
      try await console.print("\tmay let in by itself: \(Escaping.line(way, limit: 512))")
    }
    for fault in verdict.faults { try await console.print("\t\(PAMTexts.line(fault, verdict))") }
  }
}
