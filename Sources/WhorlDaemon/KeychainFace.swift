internal import Bus
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain
internal import SecretMemory

/// `org.whorl.Keychain1`: the keychain of the uid that the bus names, through the enclave.
@GLibActor
final class KeychainFace: BusHandler {
  private let frame: CallFrame
  private let enclave: Enclave

  init(frame: CallFrame, enclave: Enclave) {
    self.frame = frame
    self.enclave = enclave
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    try await frame.answer(call) { caller in
      // What may wait for a person waits for that outside the line.
      guard !["CopySecret", "Update"].contains(call.method) else { return try await self.answer(call, caller) }
      return try await self.frame.limits.runAtStore(for: caller.user) { try await self.answer(call, caller) }
    }
  }

  private func answer(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    let arguments = call.arguments
    let owner = ContextOwner(connection: caller.connection, user: caller.user)
    switch (call.method, arguments.count) {
    case ("Add", 3):
      let attributes = try ItemCoding.attributes(arguments[0])
      var options = try StrictOptions(arguments[1], what: "option")
      let accessControl = try ItemCoding.accessControl(&options)
      try options.finish()
      let secret = try CallFrame.secret(call, arguments[2], limit: KeychainLimits.secretBytes)
      try await enclave.add(user: caller.user, attributes: attributes, accessControl: accessControl, secret: secret)
      return BusAnswer()

    case ("CopyMatching", 2):
      let query = try ItemCoding.query(arguments[0], what: "query key")
      var options = try StrictOptions(arguments[1], what: "option")
      let limit = try options.number("limit") ?? 0
      let invalidated = try options.flag("invalidated") ?? false
      try options.finish()
      let items = try await enclave.copyMatching(
        user: caller.user, query: query, limit: Int(limit), includeInvalidated: invalidated)
      return BusAnswer([.array(element: "a{sv}", try ItemCoding.summaries(items))])

    case ("CopySecret", 3):
      let context = try CallFrame.context(arguments[0])
      let query = try ItemCoding.query(arguments[1], what: "query key")
      let request = try VerificationRequest(arguments[2])
      let subject = subject(.read, context, query, request, caller.user)
      let file = try await frame.withProgress(request, for: caller, about: subject) { progress in
        let secret = try await self.enclave.copySecret(
          context, owner: owner, query: query, options: request.options, progress: progress)
        return try Self.seal(secret)
      }
      return BusAnswer([.handle(0)], descriptors: [file])

    case ("Update", 5):
      let context = try CallFrame.context(arguments[0])
      let query = try ItemCoding.query(arguments[1], what: "query key")
      let changes = try ItemCoding.query(arguments[2], what: "attribute")
      let request = try VerificationRequest(arguments[4])
      let secret = try secretOrNone(call, arguments[3])
      let subject = subject(.change, context, query, request, caller.user)
      try await frame.withProgress(request, for: caller, about: subject) { progress in
        try await self.enclave.update(
          context, owner: owner, query: query, changes: changes, secret: try secret?.copy(), options: request.options,
          progress: progress)
      }
      return BusAnswer()

    case ("Delete", 2):
      let query = try ItemCoding.query(arguments[0], what: "query key")
      var options = try StrictOptions(arguments[1], what: "option")
      let all = try options.flag("all") ?? false
      try options.finish()
      guard all || query.service != nil || query.account != nil else {
        throw BusMethodError.whorl(
          "Param", "The query names neither service nor account, so it would delete too much; add one, or \"all\".")
      }
      let count = try await enclave.delete(user: caller.user, query: query, all: all)
      return BusAnswer([.uint32(UInt32(clamping: count))])

    default:
      throw BusMethodError.whorl("Unsupported", "This version of Whorl has no method \(call.method).")
    }
  }

  /// What an agent tells the person of a request for an item.
  private func subject(
    _ deed: PromptSubject.Deed, _ context: ContextID, _ query: ItemQuery, _ request: VerificationRequest, _ user: UserID
  ) -> PromptSubject {
    PromptSubject(context: context, deed: deed, reason: request.reason) { [frame, enclave] in
      let found = try? await frame.limits.runAtStore(for: user) {
        try await enclave.copyMatching(user: user, query: query, limit: 1)
      }
      return found?.first.flatMap { PromptText.name(of: $0.attributes) }
    }
  }

  private func secretOrNone(_ call: BusCall, _ value: BusValue) throws -> NewSecret? {
    guard let handles = value.asArray, handles.count <= 1 else {
      throw BusMethodError.whorl("Param", "An update takes one secret or none.")
    }
    guard let handle = handles.first else { return nil }
    return NewSecret(try CallFrame.secret(call, handle, limit: KeychainLimits.secretBytes))
  }

  private static func seal(_ secret: borrowing SecretBytes) throws(BusMethodError) -> Int32 {
    do {
      return try SecretFile.seal(secret, name: "whorl-secret")
    } catch {
      throw .whorl("Failed", "The secret cannot be handed over: \(error)")
    }
  }
}

/// A new secret of an item's, for as many attempts at the update as it takes.
private final class NewSecret: Sendable {
  private let secret: SecretBytes

  init(_ secret: consuming SecretBytes) { self.secret = secret }

  func copy() throws(BusMethodError) -> SecretBytes {
    do { return try secret.clone() } catch { throw .whorl("Failed", "The secret cannot be kept in memory: \(error)") }
  }
}
