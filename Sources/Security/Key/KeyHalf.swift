internal import KeyPairs
internal import WhorlClient

/// How the keychain keeps the halves of pairs.
///
/// The enclave never gives away the secret of an item whose role is "private". Apple's plain private keys can be exported,
/// so they are kept as something else: with the role "symmetric", which no key of a pair has otherwise, the kind of pair, and
/// the external representation as the secret. What guards them guards reading them, as it does for a password. All halves
/// carry the bytes of the public key as `generic`, so that finding one asks for nothing.
enum KeyHalf: Hashable {
  case publicHalf
  /// A private key that may be read.
  case plain
  /// A private key that never leaves the enclave.
  case enclave

  /// The enclave's role of such items.
  var role: String {
    switch self {
    case .publicHalf: "public"
    case .plain: "symmetric"
    case .enclave: "private"
    }
  }
}

extension WhorlAttributes {
  /// Which half of a pair it is; nil for what is none.
  var keyHalf: KeyHalf? {
    guard itemClass == SecItemClass.key.enclaveName, keyType != nil else { return nil }
    switch keyClass {
    case "public": return .publicHalf
    case "symmetric": return .plain
    case "private": return .enclave
    default: return nil
    }
  }

  /// The class of the key as programs know it: "public", "private" or "symmetric".
  var knownKeyClass: String? { keyHalf == .plain ? KeyHalf.enclave.role : keyClass }

  /// Sets what comes from the key itself.
  /// - Throws: `errSecParam` where they say something else, by the name of the key.
  mutating func describe(
    _ publicKey: PublicKey, as half: KeyHalf, call: String
  ) throws(ItemRequestError) {
    func check<T: Equatable>(_ value: T?, _ actual: T, _ key: String) throws(ItemRequestError) {
      guard value == nil || value == actual else {
        throw ItemRequestError(errSecParam, "\(call): \(QueryReader.shown(key)) is not that of the key; leave it out")
      }
    }
    let label = try keyPair { () throws(KeyPairError) in try publicKey.applicationLabel() }
    let bits = UInt32(publicKey.type.sizeInBits)
    try check(keyType, publicKey.type.name, kSecAttrKeyType)
    try check(knownKeyClass, half == .publicHalf ? "public" : "private", kSecAttrKeyClass)
    try check(applicationLabel, label, kSecAttrApplicationLabel)
    try check(keySize, bits, kSecAttrKeySizeInBits)
    try check(effectiveKeySize, bits, kSecAttrEffectiveKeySize)
    itemClass = SecItemClass.key.enclaveName
    keyClass = half.role
    keyType = publicKey.type.name
    applicationLabel = label
    keySize = bits
    effectiveKeySize = bits
    generic = publicKey.bytes
  }
}

extension WhorlKeyType {
  /// The kind of pair; nil for one that is not known.
  var pair: KeyPairType? { KeyPairType.allCases.first { $0.name == rawValue } }
}

extension SecKey {
  /// The half that an item is.
  /// - Parameters:
  ///   - transport: the way to the enclave that has it.
  ///   - prompting: how its uses ask the user.
  /// - Throws: `errSecUnimplemented` for a key that is no half of a pair; `errSecDecode` for one whose public half is not
  ///   whole.
  convenience init(
    _ item: WhorlItem, transport: any BlockingTransport, prompting: ItemPrompting
  ) throws(ItemRequestError) {
    guard let half = item.attributes.keyHalf,
      let type = item.attributes.keyType.flatMap({ WhorlKeyType(rawValue: $0).pair })
    else { throw ItemRequestError(errSecUnimplemented, "kSecReturnRef: there are no references to keys of this kind") }
    guard let bytes = item.attributes.generic, let reference = item.attributes.persistentReference,
      let publicKey = try? PublicKey(type, bytes: bytes)
    else { throw ItemRequestError(errSecDecode, "the public half of a key in the keychain is missing or damaged") }
    let holder: Holder =
      half == .publicHalf
      ? .publicHalf
      : .keychain(
        StoredPrivateKey(
          reference: reference, isInEnclave: half == .enclave, transport: transport, prompting: prompting))
    self.init(publicKey, holder, attributes: item.attributes, item: item)
  }
}
