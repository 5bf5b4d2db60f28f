internal import KeyPairs
internal import SecretMemory
internal import WhorlClient

/// What SecKeyCreateWithData is asked to make.
struct KeyImport {
  private static let call = "SecKeyCreateWithData"

  let type: KeyPairType
  let isPrivate: Bool
  let attributes: WhorlAttributes

  /// Reads what kind of key the bytes are.
  /// - Throws: `errSecParam`, with the key, for what has no meaning there; `errSecUnimplemented` for kinds, sizes and places
  ///   of keys that there are not.
  init(_ parameters: CFDictionary) throws(ItemRequestError) {
    var reader = try QueryReader(parameters, call: Self.call)
    guard try reader.itemClass() ?? .key == .key else { throw reader.refusal(kSecClass, "must be kSecClassKey") }
    guard let name = try reader.keyType() else { throw reader.refusal(kSecAttrKeyType, "is missing") }
    guard let type = WhorlKeyType(rawValue: name).pair else {
      throw reader.refusal(kSecAttrKeyType, "is one that there is not here", status: errSecUnimplemented)
    }
    guard try reader.isInEnclave() == nil else {
      throw reader.refusal(
        kSecAttrTokenID, "names the enclave, which makes its keys itself", status: errSecUnimplemented)
    }
    guard try reader.flag(kSecAttrIsPermanent) != true else {
      throw reader.refusal(kSecAttrIsPermanent, "is true; SecItemAdd with kSecValueRef keeps a key")
    }
    guard try reader.returns().isNothing else {
      throw ItemRequestError(errSecParam, "\(Self.call): a kSecReturn key is true, but a SecKey is what is returned")
    }
    let attributes = try reader.attributes(of: .key)
    switch attributes.keyClass {
    case "public": isPrivate = false
    case "private": isPrivate = true
    case nil: throw reader.refusal(kSecAttrKeyClass, "is missing")
    default:
      throw reader.refusal(kSecAttrKeyClass, "must be that of half a pair", status: errSecUnimplemented)
    }
    if let size = attributes.keySize, size != UInt32(type.sizeInBits) {
      throw reader.refusal(kSecAttrKeySizeInBits, "must be \(type.sizeInBits)", status: errSecUnimplemented)
    }
    guard attributes.accessGroup == nil else {
      throw reader.refusal(kSecAttrAccessGroup, "has no meaning for a key that is not kept")
    }
    try reader.finish("a key that is made of data")
    self.type = type
    self.attributes = attributes
  }

  /// The key of these bytes.
  func key(_ data: Data) throws(ItemRequestError) -> SecKey {
    var attributes = attributes
    guard isPrivate else {
      let publicKey = try keyPair { () throws(KeyPairError) in try PublicKey(type, bytes: Array(data)) }
      try attributes.describe(publicKey, as: .publicHalf, call: Self.call)
      return SecKey(publicKey, .publicHalf, attributes: attributes)
    }
    let form = try SecretBytes.request(data)
    let key = try keyPair { () throws(KeyPairError) in try ExternalForm.privateKey(type, form) }
    let publicKey = key.publicKey
    try attributes.describe(publicKey, as: .plain, call: Self.call)
    return SecKey(publicKey, .process(HeldPrivateKey(key)), attributes: attributes)
  }
}
