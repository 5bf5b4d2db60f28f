internal import KeyPairs
internal import SecretMemory
internal import WhorlClient

/// One half of a key pair.
///
/// There are four kinds:
/// - a public key;
/// - a private key in this process, made by ``SecKeyCreateRandomKey(_:_:)`` without `kSecAttrIsPermanent` or by
///   ``SecKeyCreateWithData(_:_:_:)``; its bytes are in guarded memory;
/// - a private key in the enclave (`kSecAttrTokenID` is ``kSecAttrTokenIDSecureEnclave``). Its bytes never leave the daemon,
///   which signs and agrees with it and asks the user first where its access control says so;
/// - a plain private key in the keychain. The enclave keeps its external representation as it keeps a password: each use
///   reads it, which asks the user where its access control says so, and it may be exported.
///
/// Two are equal where they are the same half of the same pair, wherever that is kept. Safe to use from every thread; what
/// reaches the keychain blocks until the answer is there.
public final class SecKey: Hashable, Sendable, CustomStringConvertible {
  /// Where the half is.
  enum Holder: Sendable {
    case publicHalf
    case process(HeldPrivateKey)
    case keychain(StoredPrivateKey)
  }

  let publicKey: PublicKey
  let holder: Holder
  /// What it is known by: where it is kept, or what it was made with.
  let attributes: WhorlAttributes
  /// The item that it was found as; nil where it is none.
  let item: WhorlItem?

  init(_ publicKey: PublicKey, _ holder: Holder, attributes: WhorlAttributes, item: WhorlItem? = nil) {
    self.publicKey = publicKey
    self.holder = holder
    self.attributes = attributes
    self.item = item
  }

  /// Whether it is the private half.
  var isPrivate: Bool {
    if case .publicHalf = holder { false } else { true }
  }

  /// Whether it is the same half of the same pair.
  public static func == (left: SecKey, right: SecKey) -> Bool {
    left.isPrivate == right.isPrivate && left.publicKey == right.publicKey
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(isPrivate)
    hasher.combine(publicKey)
  }

  /// What kind of key it is, such as `private ec-p256 key in the enclave`. Nothing secret.
  public var description: String {
    let type = publicKey.type.name
    return switch holder {
    case .publicHalf: "public \(type) key"
    case .process: "private \(type) key"
    case .keychain(let stored): "private \(type) key in the \(stored.isInEnclave ? "enclave" : "keychain")"
    }
  }
}

extension SecKey: ItemReference {}

/// A private key of this process.
final class HeldPrivateKey: Sendable {
  let key: PrivateKey

  init(_ key: consuming PrivateKey) { self.key = key }
}

/// A private key that is an item of the keychain.
struct StoredPrivateKey: Sendable {
  let reference: [UInt8]
  /// Whether its bytes never leave the enclave.
  let isInEnclave: Bool
  let transport: any BlockingTransport
  /// How the user is asked: as the query said that found the key.
  let prompting: ItemPrompting

  private var query: WhorlAttributes {
    var query = WhorlAttributes()
    query.persistentReference = reference
    return query
  }

  /// Whether the keychain has it still.
  func isKept() throws(ItemRequestError) -> Bool {
    do throws(WhorlError) {
      return try !transport.items(matching: query, limit: 1, includingInvalidated: true, after: nil).isEmpty
    } catch {
      throw ItemRequestError(error)
    }
  }

  /// A signature of the enclave's.
  func sign(_ data: [UInt8], by algorithm: SignatureAlgorithm) throws(ItemRequestError) -> [UInt8] {
    // The hash of a message is as good, and small.
    let what = try keyPair { () throws(KeyPairError) in try algorithm.digested(data) }
    return try enclave { (context) throws(WhorlError) in
      try transport.sign(
        what.data, matching: query, by: WhorlSignatureAlgorithm(rawValue: what.algorithm.rawValue), in: context,
        prompt: prompting.prompt, token: nil)
    }
  }

  /// A secret that the enclave agrees on.
  func agree(with peer: PublicKey) throws(ItemRequestError) -> SecretBytes {
    try enclave { (context) throws(WhorlError) in
      try transport.agree(
        with: peer.bytes, matching: query, by: .ecdh, in: context, prompt: prompting.prompt, token: nil)
    }
  }

  /// The external representation of a plain key.
  func read() throws(ItemRequestError) -> SecretBytes {
    try enclave { (context) throws(WhorlError) in
      try transport.secret(matching: query, in: context, prompt: prompting.prompt, token: nil)
    }
  }

  /// The plain key itself, for one use.
  /// - Parameter publicKey: what its public half has to be.
  func load(_ publicKey: PublicKey) throws(ItemRequestError) -> PrivateKey {
    let form = try read()
    do throws(KeyPairError) {
      let key = try ExternalForm.privateKey(publicKey.type, form)
      if key.publicKey == publicKey { return key }
    } catch {
      if case .memory = error { throw ItemRequestError(error) }
    }
    throw ItemRequestError(errSecDecode, "what the keychain keeps is not this private key")
  }

  private func enclave<R: ~Copyable>(
    _ body: (WhorlContext) throws(WhorlError) -> R
  ) throws(ItemRequestError) -> R {
    do throws(WhorlError) {
      return try prompting.withContext(transport, body)
    } catch {
      throw ItemRequestError(error)
    }
  }
}

/// Runs `body`, whose errors become those of the functions.
func keyPair<R: ~Copyable>(_ body: () throws(KeyPairError) -> R) throws(ItemRequestError) -> R {
  do throws(KeyPairError) { return try body() } catch { throw ItemRequestError(error) }
}

extension ItemRequestError {
  /// What the key pairs said, as a status code of Apple's.
  init(_ error: KeyPairError) {
    let status =
      switch error {
      case .wrongLength, .invalidPrivateKey, .invalidPublicKey, .malformedSignature, .unsuitable, .noAgreement:
        errSecParam
      case .memory: errSecAllocate
      case .library: errSecInternalError
      }
    self.init(status, error.description)
  }
}
