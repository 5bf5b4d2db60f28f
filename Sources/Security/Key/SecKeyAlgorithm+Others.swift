// Names of algorithms that nothing here does.

extension SecKeyAlgorithm {
  // MARK: ECDSA

  /// Not done here.
  public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:RFC4754")
  /// Not done here: name the hash.
  public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962")
  /// Not done here.
  public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA1")
  /// Not done here.
  public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA1")
  /// Not done here.
  public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA224")
  /// Not done here.
  public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA224")

  // MARK: Key agreement

  /// Not done here.
  public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDH:KDFX963:SHA1")
  /// Not done here.
  public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm(
    rawValue: "algid:keyexchange:ECDH:KDFX963:SHA224")
  /// Not done here.
  public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA1")
  /// Not done here.
  public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm(
    rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA224")

  // MARK: ECIES

  /// Not done here.
  public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM")
  /// Not done here.
  public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM")
  /// Not done here.
  public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM")
  /// Not done here.
  public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM")
  /// Not done here.
  public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM")
  /// Not done here.
  public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV")
  /// Not done here.
  public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV")
  /// Not done here.
  public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV")
  /// Not done here.
  public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV")
  /// Not done here.
  public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM")
  /// Not done here.
  public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM")
  /// Not done here.
  public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM")
  /// Not done here.
  public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM")
  /// Not done here.
  public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM")
  /// Not done here.
  public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV")
  /// Not done here.
  public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
  /// Not done here.
  public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV")
  /// Not done here.
  public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
    rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV")

  // MARK: RSA

  /// Not done here.
  public static let rsaSignatureRaw = SecKeyAlgorithm(rawValue: "algid:sign:RSA:raw")
  /// Not done here.
  public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PKCS1v15")
  /// Not done here.
  public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA1")
  /// Not done here.
  public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PKCS1v15:SHA1")
  /// Not done here.
  public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA224")
  /// Not done here.
  public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:message-PKCS1v15:SHA224")
  /// Not done here.
  public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA256")
  /// Not done here.
  public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:message-PKCS1v15:SHA256")
  /// Not done here.
  public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA384")
  /// Not done here.
  public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:message-PKCS1v15:SHA384")
  /// Not done here.
  public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA512")
  /// Not done here.
  public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:message-PKCS1v15:SHA512")
  /// Not done here.
  public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PSS:SHA1:SHA1:20")
  /// Not done here.
  public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PSS:SHA1:SHA1:20")
  /// Not done here.
  public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:digest-PSS:SHA224:SHA224:28")
  /// Not done here.
  public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:message-PSS:SHA224:SHA224:28")
  /// Not done here.
  public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
  /// Not done here.
  public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:message-PSS:SHA256:SHA256:32")
  /// Not done here.
  public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
  /// Not done here.
  public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:message-PSS:SHA384:SHA384:48")
  /// Not done here.
  public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:digest-PSS:SHA512:SHA512:64")
  /// Not done here.
  public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(
    rawValue: "algid:sign:RSA:message-PSS:SHA512:SHA512:64")
  /// Not done here.
  public static let rsaEncryptionRaw = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:raw")
  /// Not done here.
  public static let rsaEncryptionPKCS1 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:PKCS1")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA1")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA1:AESGCM")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA224")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA224:AESGCM")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA256")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA256:AESGCM")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA384")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA384:AESGCM")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA512")
  /// Not done here.
  public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA512:AESGCM")
}
