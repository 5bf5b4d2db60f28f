internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import SecretMemory

/// `org.whorl.Keychain1`: the keychain of the uid that the bus names, through the enclave.
@GLibActor
final class KeychainFace: BusHandler {
  let frame: CallFrame
  let enclave: Enclave

  init(frame: CallFrame, enclave: Enclave) {
    self.frame = frame
    self.enclave = enclave
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    try await frame.answer(call) { caller in
      // What may wait for a person waits for that outside the line.
      guard !["CopySecret", "Update", "Sign", "Agree", "Export", "Import"].contains(call.method) else {
        return try await self.answer(call, caller)
      }
      return try await self.frame.limits.runAtStore(for: caller.user) { try await self.answer(call, caller) }
    }
  }

  private func answer(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    if let answer = try await answerAboutKeys(call, caller) { return answer }
    let arguments = call.arguments
    let owner = ContextOwner(connection: caller.connection, user: caller.user)
    switch (call.method, arguments.count) {
    case ("Add", 3):
      let attributes = try ItemCoding.attributes(arguments[0])
      var options = try StrictOptions(arguments[1], what: "option")
      let accessControl = try ItemCoding.accessControl(&options)
      let context = try options.number("context").map { (id: ContextID(rawValue: $0), owner: owner) }
      try options.finish()
      let secret = try CallFrame.secret(call, arguments[2], limit: KeychainLimits.secretBytes)
      try await enclave.add(
        user: caller.user, attributes: attributes, accessControl: accessControl, secret: secret, context: context)
      return BusAnswer()

    case ("CopyMatching", 2):
      let query = try ItemCoding.query(arguments[0], what: "query key")
      var options = try StrictOptions(arguments[1], what: "option")
      let limit = try options.number("limit") ?? 0
      let invalidated = try options.flag("invalidated") ?? false
      let after = try options.bytes("after")
      try options.finish()
      let items = try await enclave.copyMatching(
        user: caller.user, query: query, limit: Int(limit), includeInvalidated: invalidated, after: after)
      return BusAnswer([.array(element: "a{sv}", try ItemCoding.summaries(items))])

    case ("CopySecret", 3):
      let context = try CallFrame.context(arguments[0])
      let query = try ItemCoding.query(arguments[1], what: "query key")
      let request = try VerificationRequest(arguments[2])
      let item = ShownItem(query, for: .read, of: caller.user, enclave)
      let subject = PromptSubject(context: context, deed: .read, reason: request.reason, item: item)
      let file = try await frame.withPrompts(request, for: caller, about: subject) { scope, progress in
        let secret = try await self.enclave.copySecret(
          scope.context, owner: scope.owner, query: query, shown: item.item, options: request.options,
          progress: progress)
        return try CallFrame.seal(secret)
      }
      return BusAnswer([.handle(0)], descriptors: [file])

    case ("Update", 5):
      let context = try CallFrame.context(arguments[0])
      let query = try ItemCoding.query(arguments[1], what: "query key")
      let changes = try ItemCoding.query(arguments[2], what: "attribute")
      var keys = try StrictOptions(arguments[4], what: "option")
      let accessControl = try ItemCoding.newAccessControl(&keys)
      let request = try VerificationRequest(&keys)
      try keys.finish()
      let secret = try secretOrNone(call, arguments[3])
      let item = ShownItem(query, for: .change, of: caller.user, enclave)
      let subject = PromptSubject(context: context, deed: .change, reason: request.reason, item: item)
      try await frame.withPrompts(request, for: caller, about: subject) { scope, progress in
        try await self.enclave.update(
          scope.context, owner: scope.owner, query: query, shown: item.item, changes: changes,
          secret: try secret?.copy(), accessControl: accessControl, options: request.options, progress: progress)
      }
      return BusAnswer()

    case ("Delete", 2):
      let query = try ItemCoding.query(arguments[0], what: "query key")
      var options = try StrictOptions(arguments[1], what: "option")
      let all = try options.flag("all") ?? false
      try options.finish()
      let count = try await enclave.delete(user: caller.user, query: query, all: all)
      return BusAnswer([.uint32(UInt32(clamping: count))])

    case ("Export", 3): return try await export(call, caller)
    case ("Import", 4): return try await importItems(call, caller)

    case ("Check", 0):
      let report = try await enclave.checkKeychain(of: caller.user)
      return BusAnswer([
        .options([
          "items": .uint32(UInt32(clamping: report.items)), "whole": .uint32(UInt32(clamping: report.whole)),
          "unread": .uint32(UInt32(clamping: report.unread)), "lost": .uint32(UInt32(clamping: report.lost)),
          "problems": .strings(report.problems), "problem-count": .uint32(UInt32(clamping: report.problemCount)),
        ])
      ])

    case ("Rekey", 2):
      let passcode = try CallFrame.secret(call, arguments[1], limit: Enclave.Limits.passcodeBytes)
      let count = try await enclave.rekey(try CallFrame.context(arguments[0]), owner: owner, passcode: passcode)
      return BusAnswer([.uint32(UInt32(clamping: count))])

    default:
      throw BusMethodError.whorl("Unsupported", "This version of Whorl has no method \(call.method).")
    }
  }

  private func secretOrNone(_ call: BusCall, _ value: BusValue) throws -> RepeatedSecret? {
    switch try CallFrame.optionalSecret(call, value, limit: KeychainLimits.secretBytes, what: "secret") {
    case .some(let secret): return RepeatedSecret(secret)
    case .none: return nil
    }
  }
}
