// Attributes of keys.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// Which half of a key pair it is: one of the `kSecAttrKeyClass…` values.
public let kSecAttrKeyClass: CFString = "kcls"
/// The public half.
public let kSecAttrKeyClassPublic: CFString = "0"
/// The private half.
public let kSecAttrKeyClassPrivate: CFString = "1"
/// A key that has no halves.
public let kSecAttrKeyClassSymmetric: CFString = "2"
/// The kind of key: one of the `kSecAttrKeyType…` values.
public let kSecAttrKeyType: CFString = "type"
/// RSA. None are made or kept here.
public let kSecAttrKeyTypeRSA: CFString = "42"
/// DSA. None are made or kept here.
public let kSecAttrKeyTypeDSA: CFString = "43"
/// AES. None are made or kept here.
public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// An elliptic curve key over P-256.
public let kSecAttrKeyTypeEC: CFString = "73"
/// An elliptic curve key over P-256.
public let kSecAttrKeyTypeECDSA: CFString = "73"
/// An elliptic curve key over P-256.
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// An Ed25519 key. Apple has no such public name; the value is Whorl's own.
public let kSecAttrKeyTypeEd25519: CFString = "ed25519"
/// The size of the key in bits; 256.
public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// How many bits of the key count.
public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// The hash of the public key that both halves share, as data: 20 bytes of SHA-1. It comes from the key itself.
public let kSecAttrApplicationLabel: CFString = "klbl"
/// Bytes of the program's own that find the key, at most 4096.
public let kSecAttrApplicationTag: CFString = "atag"
/// Whether a key that is made is kept in the keychain.
public let kSecAttrIsPermanent: CFString = "perm"
/// What holds the key: ``kSecAttrTokenIDSecureEnclave`` is the only value there is.
public let kSecAttrTokenID: CFString = "tkid"
/// The enclave, which lets private keys be used and never gives them away.
public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// Whether the key may leave only encrypted. It has no meaning here and is refused.
public let kSecAttrIsSensitive: CFString = "sens"
/// Whether the key may leave. It is refused: keys of the enclave may not (``kSecAttrTokenID``), and all others may.
public let kSecAttrIsExtractable: CFString = "extr"
/// Whether the key encrypts: said by SecKeyCopyAttributes alone; where a key is made or looked for it is refused.
public let kSecAttrCanEncrypt: CFString = "encr"
/// Whether the key decrypts: said by SecKeyCopyAttributes alone; where a key is made or looked for it is refused.
public let kSecAttrCanDecrypt: CFString = "decr"
/// Whether the key agrees on secrets: said by SecKeyCopyAttributes alone; where a key is made or looked for it is refused.
public let kSecAttrCanDerive: CFString = "drve"
/// Whether the key signs: said by SecKeyCopyAttributes alone; where a key is made or looked for it is refused.
public let kSecAttrCanSign: CFString = "sign"
/// Whether the key verifies: said by SecKeyCopyAttributes alone; where a key is made or looked for it is refused.
public let kSecAttrCanVerify: CFString = "vrfy"
/// Whether the key wraps keys: said by SecKeyCopyAttributes alone; where a key is made or looked for it is refused.
public let kSecAttrCanWrap: CFString = "wrap"
/// Whether the key unwraps keys: said by SecKeyCopyAttributes alone; where a key is made or looked for it is refused.
public let kSecAttrCanUnwrap: CFString = "unwp"
/// Where a pair is made: the attributes of the private half, as a dictionary.
public let kSecPrivateKeyAttrs: CFString = "private"
/// Where a pair is made: the attributes of the public half, as a dictionary.
public let kSecPublicKeyAttrs: CFString = "public"
