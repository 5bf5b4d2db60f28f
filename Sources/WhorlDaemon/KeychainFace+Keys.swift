internal import Bus
internal import Enclave
internal import GLibLoop
internal import KeyPairs
internal import Keychain
internal import SecretMemory

/// The calls about key pairs.
extension KeychainFace {
  /// The most bytes to sign: who has more hashes it, and has the digest signed.
  static let signedBytes = 1 << 20

  /// The answer to a call about key pairs; nil for another call.
  func answerAboutKeys(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer? {
    let arguments = call.arguments
    let owner = ContextOwner(connection: caller.connection, user: caller.user)
    switch (call.method, arguments.count) {
    case ("GenerateKey", 2):
      let given = try ItemCoding.query(arguments[0], what: "attribute")
      let attributes = try ItemAttributes(itemClass: .key).applying(given)
      var options = try StrictOptions(arguments[1], what: "option")
      let accessControl = try ItemCoding.accessControl(&options)
      let context = try options.number("context").map { (id: ContextID(rawValue: $0), owner: owner) }
      try options.finish()
      let publicKey = try await enclave.generateKey(
        user: caller.user, attributes: attributes, accessControl: accessControl, context: context)
      return BusAnswer([.bytes(publicKey)])

    case ("Sign", 5):
      let use = try KeyUse(arguments)
      guard let algorithm = SignatureAlgorithm(rawValue: use.algorithm) else {
        throw Self.unknown(use.algorithm, SignatureAlgorithm.allCases.map(\.rawValue))
      }
      guard use.data.count <= Self.signedBytes else {
        throw BusMethodError.whorl(
          "TooLarge",
          "The data has more than \(Self.signedBytes) bytes; hash it, and have the digest signed.")
      }
      let (item, subject) = use.subject(caller.user, enclave)
      let signature = try await frame.withPrompts(use.request, for: caller, about: subject) { scope, progress in
        try await self.enclave.sign(
          scope.context, owner: scope.owner, query: use.query, shown: item.item, algorithm: algorithm,
          data: use.data, options: use.request.options, progress: progress)
      }
      return BusAnswer([.bytes(signature)])

    case ("Agree", 5):
      let use = try KeyUse(arguments)
      guard let algorithm = KeyAgreementAlgorithm(rawValue: use.algorithm) else {
        throw Self.unknown(use.algorithm, KeyAgreementAlgorithm.allCases.map(\.rawValue))
      }
      let (item, subject) = use.subject(caller.user, enclave)
      let file = try await frame.withPrompts(use.request, for: caller, about: subject) { scope, progress in
        let secret = try await self.enclave.agree(
          scope.context, owner: scope.owner, query: use.query, shown: item.item, algorithm: algorithm,
          peer: use.data, options: use.request.options, progress: progress)
        return try CallFrame.seal(secret)
      }
      return BusAnswer([.handle(0)], descriptors: [file])

    default: return nil
    }
  }

  nonisolated static func unknown(_ algorithm: String, _ known: [String]) -> BusMethodError {
    .whorl(
      "Unsupported",
      "This version of Whorl does not know the algorithm \(algorithm.quoted); it knows "
        + known.joined(separator: ", ") + ".")
  }
}

/// The arguments that Sign and Agree have alike.
private struct KeyUse {
  let context: ContextID
  let query: ItemQuery
  let algorithm: String
  /// What is signed, or the peer's public key.
  let data: [UInt8]
  let request: VerificationRequest

  /// What the person is told.
  @GLibActor func subject(_ user: UserID, _ enclave: Enclave) -> (item: ShownItem, subject: PromptSubject) {
    let item = ShownItem(query, for: .key, of: user, enclave)
    return (item, PromptSubject(context: context, deed: .useKey, reason: request.reason, item: item))
  }

  @GLibActor init(_ arguments: [BusValue]) throws {
    context = try CallFrame.context(arguments[0])
    query = try ItemCoding.query(arguments[1], what: "query key")
    guard let algorithm = arguments[2].asString, let data = arguments[3].asBytes else {
      throw BusMethodError.whorl("Param", "A key is used with an algorithm's name and bytes.")
    }
    self.algorithm = algorithm
    self.data = data
    request = try VerificationRequest(arguments[4])
  }
}
