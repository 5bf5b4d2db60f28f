public import Keychain
public import KeyPairs
public import SecretMemory

/// Key pairs whose private half never leaves the enclave.
///
/// A private key is an item of class key with role private. Its secret is the private half and is opened here alone, for
/// one signature or agreement at a time, once the item's constraints are satisfied. Its public half is kept as the
/// attribute `generic`, which needs no finger.
extension Enclave {
  /// Makes a key pair and adds its private half to a user's keychain; never prompts. On the disk when this returns.
  /// - Parameter attributes: what describes it, with the `keyType`. What comes from the key itself (class, role,
  ///   application label, sizes, `generic`) is set here, and refused where it says something else.
  /// - Parameter context: as for `add`.
  /// - Returns: the bytes of the public half.
  /// - Throws: `.parameter` for attributes that are not those of the key; otherwise as `add`.
  public func generateKey(
    user: UserID, attributes: ItemAttributes, accessControl: AccessControl,
    context: (id: ContextID, owner: ContextOwner)? = nil
  ) async throws(EnclaveError) -> [UInt8] {
    guard let type = attributes.keyType else { throw .parameter("a key has a key-type; name one") }
    var attributes = attributes
    attributes.keyRole = attributes.keyRole ?? .private
    guard attributes.itemClass == .key, attributes.keyRole == .private else {
      throw .parameter("only private keys of class key are generated; leave out class and key-class")
    }
    let key: PrivateKey
    do { key = try PrivateKey.generate(KeyPairType(type)) } catch { throw EnclaveError(error) }
    let publicKey = key.publicKey.bytes
    try await add(
      user: user, attributes: attributes, accessControl: accessControl, secret: key.takeBytes(), context: context)
    return publicKey
  }

  /// A signature over `data` by the first private key that matches, once its constraints are satisfied in the context.
  /// - Parameters:
  ///   - shown: as for `copySecret`.
  ///   - data: the message, or its hash where the algorithm says so.
  /// - Throws: as `copySecret`; `.parameter` before any prompt where the key does not sign so, or a hash is of another
  ///   length.
  public func sign(
    _ context: ContextID, owner: ContextOwner, query: ItemQuery, shown: ItemSummary? = nil,
    algorithm: SignatureAlgorithm,
    data: [UInt8], options: VerificationOptions = VerificationOptions(), progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> [UInt8] {
    try await withPrivateKey(context, owner, query, shown, options, progress) { (type) throws(KeyPairError) in
      guard algorithm.keyType == type else { throw .unsuitable(algorithm, type) }
      if let expected = algorithm.dataBytes, data.count != expected {
        throw .wrongLength("the digest", expected: expected, found: data.count)
      }
    } use: { (key: borrowing PrivateKey) throws(KeyPairError) in
      try key.sign(data, by: algorithm)
    }
  }

  /// The secret that the first private key that matches and `peer`'s private half come to, once the constraints are
  /// satisfied in the context.
  /// - Parameters:
  ///   - shown: as for `copySecret`.
  ///   - peer: the bytes of the other public key.
  /// - Throws: as `copySecret`; before any prompt `.parameter` where `peer` is no public key, and
  ///   `.keychain(.unsupported)` for a kind of key that agrees on nothing.
  public func agree(
    _ context: ContextID, owner: ContextOwner, query: ItemQuery, shown: ItemSummary? = nil,
    algorithm: KeyAgreementAlgorithm,
    peer: [UInt8], options: VerificationOptions = VerificationOptions(), progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> SecretBytes {
    try await withPrivateKey(context, owner, query, shown, options, progress) { (type) throws(KeyPairError) in
      guard type == .p256 else { throw .noAgreement(type) }
      _ = try PublicKey(type, bytes: peer)
    } use: { (key: borrowing PrivateKey) throws(KeyPairError) in
      try key.sharedSecret(with: try PublicKey(key.type, bytes: peer))
    }
  }

  /// Uses the private key that is meant, once its constraints are satisfied. It is opened for `use` alone.
  /// - Parameter check: whether a key of that kind can do what is asked; called before anybody is prompted.
  private func withPrivateKey<Result: ~Copyable>(
    _ context: ContextID, _ owner: ContextOwner, _ query: ItemQuery, _ shown: ItemSummary?,
    _ options: VerificationOptions, _ progress: @escaping ProgressHandler,
    check: @escaping @Sendable (KeyPairType) throws(KeyPairError) -> Void,
    use: (borrowing PrivateKey) throws(KeyPairError) -> Result
  ) async throws(EnclaveError) -> Result {
    try await withItem(
      context, owner, try Self.privateKeys(query), shown, for: .key(check), mustBeOnlyOne: false, options, progress
    ) { keychain, item, password throws(EnclaveError) in
      guard let type = item.attributes.keyType.map(KeyPairType.init) else { throw .keychain(.itemNotFound) }
      let secret = try Self.keychain { () throws(KeychainError) in
        try keychain.secret(of: item.id, under: item.accessControl, applicationPassword: password)
      }
      do throws(KeyPairError) { return try use(try PrivateKey(type, bytes: secret)) } catch {
        throw EnclaveError(error)
      }
    }
  }

  // MARK: - Items that are keys

  /// The query, for private keys alone.
  static func privateKeys(_ query: ItemQuery) throws(EnclaveError) -> ItemQuery {
    guard query.itemClass ?? .key == .key, query.keyRole ?? .private == .private else {
      throw .parameter("only private keys of class key are used; leave out class and key-class")
    }
    var query = query
    query.itemClass = .key
    query.keyRole = .private
    return query
  }

  /// The attributes under which `secret` is added: those of a private key get what comes from the key.
  /// - Throws: `.parameter` where they say something else, or where the secret is no such private key.
  static func completed(
    _ attributes: ItemAttributes, of secret: borrowing SecretBytes
  ) throws(EnclaveError) -> ItemAttributes {
    guard attributes.itemClass == .key, attributes.keyRole == .private else { return attributes }
    guard let type = attributes.keyType.map(KeyPairType.init) else {
      throw .parameter("a private key has a key-type; name one")
    }
    let publicKey: PublicKey
    let label: [UInt8]
    do {
      let clone: SecretBytes
      do { clone = try secret.clone() } catch { throw KeyPairError.memory(error) }
      publicKey = try PrivateKey(type, bytes: clone).publicKey
      label = try publicKey.applicationLabel()
    } catch let error as KeyPairError {
      throw EnclaveError(error)
    } catch {
      throw .failed("the key could not be looked at: \(error)")
    }
    var result = attributes
    let bits = UInt32(type.sizeInBits)
    try set(&result.generic, publicKey.bytes, "generic")
    try set(&result.applicationLabel, label, "application-label")
    try set(&result.keySizeInBits, bits, "key-size")
    try set(&result.effectiveKeySize, bits, "effective-key-size")
    return result
  }

  private static func set<Value: Equatable>(
    _ attribute: inout Value?, _ value: Value, _ name: String
  ) throws(EnclaveError) {
    guard attribute == nil || attribute == value else {
      throw .parameter("the \(name) of a private key comes from the key itself; leave it out")
    }
    attribute = value
  }
}

/// What an item is asked for.
enum ItemPurpose {
  /// To give its secret out.
  case secret
  /// To be changed; `hasSecret`: its secret too.
  case change(ItemQuery, hasSecret: Bool)
  /// To sign or agree with it: a private key of a kind that passes.
  case key(@Sendable (KeyPairType) throws(KeyPairError) -> Void)

  /// Throws where an item of that kind is not for it: before anybody is prompted, and again at each look.
  func check(_ attributes: ItemAttributes) throws(EnclaveError) {
    let isKey = attributes.itemClass == .key
    let isPrivate = isKey && attributes.keyRole == .private
    switch self {
    case .secret:
      if isPrivate { throw .denied("a private key never leaves the keychain; sign or agree on a secret with it") }
    case .key(let check):
      guard isPrivate, let type = attributes.keyType.map(KeyPairType.init) else { throw .keychain(.itemNotFound) }
      do { try check(type) } catch { throw EnclaveError(error) }
    case .change(let changes, let hasSecret):
      if isPrivate, hasSecret {
        throw .denied("a private key never leaves the keychain, and no other takes its place; delete it and add one")
      }
      let own: [(String, Bool)] = [
        ("key-class", isKey && changes.keyRole != nil && changes.keyRole != attributes.keyRole),
        ("key-type", isKey && changes.keyType != nil && changes.keyType != attributes.keyType),
        ("generic", isPrivate && changes.generic != nil && changes.generic != attributes.generic),
        (
          "application-label",
          isPrivate && changes.applicationLabel != nil && changes.applicationLabel != attributes.applicationLabel
        ),
        (
          "key-size",
          isPrivate && changes.keySizeInBits != nil && changes.keySizeInBits != attributes.keySizeInBits
        ),
        (
          "effective-key-size",
          isPrivate && changes.effectiveKeySize != nil && changes.effectiveKeySize != attributes.effectiveKeySize
        ),
      ]
      if let changed = own.first(where: { $0.1 }) {
        throw .denied("the \(changed.0) of a key comes from the key itself and does not change; leave it out")
      }
    }
  }
}

extension KeyPairType {
  /// The kind of pair that a key's attribute names.
  init(_ type: KeyType) {
    switch type {
    case .ecP256: self = .p256
    case .ed25519: self = .ed25519
    }
  }
}

extension EnclaveError {
  /// How the enclave says why a key was not made or used.
  init(_ error: KeyPairError) {
    switch error {
    case .wrongLength, .invalidPrivateKey, .invalidPublicKey, .malformedSignature, .unsuitable:
      self = .parameter(error.description)
    case .noAgreement(let type): self = .keychain(.unsupported("key agreement with a key of type \(type.name)"))
    case .memory(let error): self = .keychain(.memory(error))
    case .library: self = .failed(error.description)
    }
  }
}
