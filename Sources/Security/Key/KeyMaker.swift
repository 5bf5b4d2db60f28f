internal import KeyPairs
internal import SecretMemory
internal import WhorlClient

/// Makes what SecKeyCreateRandomKey is asked for.
struct KeyMaker {
  private let request: KeyGeneration
  private let transport: any BlockingTransport

  init(_ request: KeyGeneration) {
    self.request = request
    transport = request.prompting.transport
  }

  func make() throws(ItemRequestError) -> SecKey {
    guard let type = request.type.pair else {
      throw ItemRequestError(errSecUnimplemented, "kSecAttrKeyType is one that is not made")
    }
    guard request.isInEnclave else {
      let key = try keyPair { () throws(KeyPairError) in try PrivateKey.generate(type) }
      return try finish(try plain(key))
    }
    guard request.privateHalf.isPermanent else {
      // One that is not kept would have to be, until this process ends; and stay for ever where that ends early.
      throw ItemRequestError(
        errSecUnimplemented,
        "kSecAttrIsPermanent is not true in kSecPrivateKeyAttrs, and the enclave keeps every key that it makes")
    }
    return try finish(try inEnclave())
  }

  private func inEnclave() throws(ItemRequestError) -> SecKey {
    let half = request.privateHalf
    let bytes = try enclave { () throws(WhorlError) in
      guard half.accessControl.constraints.contains(.applicationPassword), let source = request.prompting.context else {
        return try transport.generateKey(half.attributes, accessControl: half.accessControl, context: nil)
      }
      return try source.withEnclaveContext { (context) throws(WhorlError) in
        try transport.generateKey(half.attributes, accessControl: half.accessControl, context: context)
      }
    }
    guard let type = request.type.pair, let publicKey = try? PublicKey(type, bytes: bytes) else {
      throw ItemRequestError(errSecDecode, "the daemon's answer makes no sense: it is no public key")
    }
    return try kept(publicKey, .enclave, half.attributes)
  }

  private func plain(_ key: consuming PrivateKey) throws(ItemRequestError) -> SecKey {
    let publicKey = key.publicKey
    var attributes = request.privateHalf.attributes
    try attributes.describe(publicKey, as: .plain, call: "SecKeyCreateRandomKey")
    guard request.privateHalf.isPermanent else {
      return SecKey(publicKey, .process(HeldPrivateKey(key)), attributes: attributes)
    }
    try add(try KeyMaterial(key), request.privateHalf)
    return try kept(publicKey, .plain, attributes)
  }

  /// Keeps the public half, too, where that is asked for.
  private func finish(_ key: SecKey) throws(ItemRequestError) -> SecKey {
    guard request.publicHalf.isPermanent else { return key }
    do throws(ItemRequestError) {
      var half = request.publicHalf
      // Nobody has to show anything for a public key.
      half.accessControl = WhorlAccessControl(protection: half.accessControl.protection)
      try add(try KeyMaterial(key.publicKey), half)
    } catch {
      // Half a pair is not what was asked for.
      if case .keychain(let stored) = key.holder {
        var query = WhorlAttributes()
        query.persistentReference = stored.reference
        _ = try? transport.delete(matching: query, all: false)
      }
      throw error
    }
    return key
  }

  private func add(_ material: consuming KeyMaterial, _ half: KeyGeneration.Half) throws(ItemRequestError) {
    var attributes = half.attributes
    try attributes.describe(material.publicKey, as: material.half, call: "SecKeyCreateRandomKey")
    let form = material.form
    try enclave { () throws(WhorlError) in
      guard half.accessControl.constraints.contains(.applicationPassword), let source = request.prompting.context else {
        return try transport.add(attributes, accessControl: half.accessControl, context: nil, secret: form)
      }
      try source.withEnclaveContext { (context) throws(WhorlError) in
        try transport.add(attributes, accessControl: half.accessControl, context: context, secret: form)
      }
    }
  }

  /// The private key that was just stored.
  private func kept(
    _ publicKey: PublicKey, _ half: KeyHalf, _ attributes: WhorlAttributes
  ) throws(ItemRequestError) -> SecKey {
    var attributes = attributes
    try attributes.describe(publicKey, as: half, call: "SecKeyCreateRandomKey")
    let identity = attributes.identity
    let found = try enclave { () throws(WhorlError) in
      try transport.items(matching: identity, limit: 0, includingInvalidated: false, after: nil)
    }
    guard let item = found.first(where: { $0.attributes.identity == identity }) else {
      throw ItemRequestError(errSecItemNotFound, "the key was deleted at once by another program")
    }
    return try SecKey(item, transport: transport, prompting: request.prompting)
  }

  private func enclave<R: ~Copyable>(_ body: () throws(WhorlError) -> R) throws(ItemRequestError) -> R {
    do throws(WhorlError) { return try body() } catch { throw ItemRequestError(error) }
  }
}
