internal import KeyPairs
internal import SecretMemory
internal import WhorlClient

/// A half of a pair on its way into the keychain.
struct KeyMaterial: ~Copyable {
  let publicKey: PublicKey
  let half: KeyHalf
  /// The external representation: what the keychain is to keep.
  let form: SecretBytes

  /// A public half.
  init(_ publicKey: PublicKey) throws(ItemRequestError) {
    self.publicKey = publicKey
    half = .publicHalf
    form = try SecretBytes.request(publicKey.bytes)
  }

  /// A private half that may be exported.
  init(_ key: borrowing PrivateKey) throws(ItemRequestError) {
    publicKey = key.publicKey
    half = .plain
    do throws(KeyPairError) { form = try ExternalForm.bytes(of: key) } catch { throw ItemRequestError(error) }
  }

  /// What `kSecValueData` gives.
  init(_ type: KeyPairType, _ data: Data, isPrivate: Bool) throws(ItemRequestError) {
    guard isPrivate else {
      let publicKey: PublicKey
      do throws(KeyPairError) { publicKey = try PublicKey(type, bytes: Array(data)) } catch {
        throw ItemRequestError(error)
      }
      try self.init(publicKey)
      return
    }
    let secret = try SecretBytes.request(data)
    let key: PrivateKey
    do throws(KeyPairError) { key = try ExternalForm.privateKey(type, secret) } catch { throw ItemRequestError(error) }
    try self.init(key)
  }
}

extension SecretBytes {
  /// A copy of bytes that a program gave.
  /// - Throws: `errSecAllocate`.
  static func request(_ bytes: some DataProtocol) throws(ItemRequestError) -> SecretBytes {
    do throws(SecretMemoryError) {
      // They may be in pieces; a copy of our own is not.
      var secret = try SecretBytes(count: bytes.count)
      secret.withUnsafeMutableBytes { _ = bytes.copyBytes(to: $0) }
      return secret
    } catch {
      throw ItemRequestError(
        errSecAllocate, "there is no guarded memory for the secret; raise the limit on locked memory")
    }
  }
}

extension ItemAddition {
  /// The key that is to be added, where it is a half of a pair; its attributes are completed. Nil for everything else.
  /// - Throws: `errSecParam` for data or attributes that are not those of a key; `errSecDuplicateItem` for a private key
  ///   that the keychain has already.
  mutating func takeKey() throws(ItemRequestError) -> KeyMaterial? {
    guard itemClass == .key else { return nil }
    let material: KeyMaterial
    if let reference {
      guard let key = reference as? SecKey else { throw ItemRequestError(errSecInvalidItemRef, "this is no SecKey") }
      attributes.label = attributes.label ?? key.attributes.label
      attributes.applicationTag = attributes.applicationTag ?? key.attributes.applicationTag
      switch key.holder {
      case .publicHalf: material = try KeyMaterial(key.publicKey)
      case .process(let held): material = try KeyMaterial(held.key)
      case .keychain(let stored):
        guard try stored.isKept() else {
          throw ItemRequestError(errSecInvalidItemRef, "the key was deleted from the keychain")
        }
        throw ItemRequestError(errSecDuplicateItem, "the keychain has this private key already")
      }
    } else {
      guard let found = try givenKey() else { return nil }
      material = found
    }
    try attributes.describe(material.publicKey, as: material.half, call: "SecItemAdd")
    return material
  }

  private func givenKey() throws(ItemRequestError) -> KeyMaterial? {
    guard attributes.keyClass != "symmetric" else {
      guard attributes.keyType == nil else {
        throw ItemRequestError(errSecParam, "SecItemAdd: keys of this kSecAttrKeyType are public or private")
      }
      return nil
    }
    guard let keyClass = attributes.keyClass, let type = attributes.keyType else {
      // Bytes that some program calls a key; it knows what they are.
      guard attributes.keyClass == nil, attributes.keyType == nil else {
        let missing = attributes.keyClass == nil ? "kSecAttrKeyClass" : "kSecAttrKeyType"
        throw ItemRequestError(errSecParam, "SecItemAdd: \(missing) is missing")
      }
      return nil
    }
    guard let pair = WhorlKeyType(rawValue: type).pair else {
      throw ItemRequestError(errSecUnimplemented, "SecItemAdd: kSecAttrKeyType is one that is not kept")
    }
    return try KeyMaterial(pair, secret ?? Data(), isPrivate: keyClass == "private")
  }
}
