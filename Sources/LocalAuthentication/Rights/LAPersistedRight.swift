internal import SecretMemory
internal import Synchronization
internal import WhorlClient

/// A right that ``LARightStore`` keeps, with a secret that the enclave gives only to who was authorized.
///
/// Apple's have a private key besides (`key`), which does not exist here: make one with `SecKeyCreateRandomKey` and an
/// access control.
public final class LAPersistedRight: LARight, @unchecked Sendable {
  /// That of the store's item.
  let identifier: String
  let reference: [UInt8]?

  init(_ item: WhorlItem, transport: any BlockingTransport) {
    identifier = item.attributes.account ?? ""
    reference = item.attributes.persistentReference
    super.init(LAAuthenticationRequirement(of: item), transport: transport)
  }

  /// The secret that was stored with it.
  public var secret: LASecret { LASecret(of: self) }
}

/// The secret of a stored right.
public final class LASecret: NSObject, Sendable {
  private let right: LAPersistedRight

  init(of right: LAPersistedRight) { self.right = right }

  /// Gives the secret, once the right was authorized. What was shown for that counts for five minutes; after those the
  /// person is asked again.
  /// - Throws: `notInteractive` of ``LAError`` for a right that is not authorized; `errSecItemNotFound` in
  ///   NSOSStatusErrorDomain for one that was removed, or that has ended with the set of fingers.
  public func loadData() async throws -> Data {
    let (state, context, reason) = right.authorization.withLock { ($0.state, $0.context, $0.reason) }
    guard state == .authorized, let context else {
      throw NSError.localAuthentication(.notInteractive, "The right is not authorized; authorize it first")
    }
    var query = WhorlAttributes()
    query.persistentReference = right.reference
    return try await onThread { [query] () throws(WhorlError) in
      try context.withEnclaveContext { (number) throws(WhorlError) in
        let secret = try context.transport.secret(
          matching: query, in: number, prompt: context.prompt(reason), token: nil)
        return secret.withUnsafeBytes { Data($0) }
      }
    }
  }
}
