import Security
import Testing

@Suite struct ConstantTests {
  @Test func `every constant of the list has Apple's value`() {
    #expect(constantTable.count == 95)
    for (name, symbol, value) in constantTable { #expect(symbol == value, "\(name)") }
  }

  @Test func `every status code of the list has Apple's number`() {
    #expect(statusTable1.count + statusTable2.count == 402)
    for (name, symbol, value) in statusTable1 + statusTable2 { #expect(symbol == value, "\(name)") }
    #expect(noErr == 0)
  }

  /// What is not in the list and whose values are known all the same.
  @Test func `the constants of keys and matches have Apple's values`() {
    let table: [(String, String)] = [
      (kSecAttrKeyClass, "kcls"), (kSecAttrKeyClassPublic, "0"), (kSecAttrKeyClassPrivate, "1"),
      (kSecAttrKeyClassSymmetric, "2"), (kSecAttrKeyType, "type"), (kSecAttrKeyTypeRSA, "42"),
      (kSecAttrKeyTypeDSA, "43"), (kSecAttrKeyTypeAES, "2147483649"), (kSecAttrKeyTypeEC, "73"),
      (kSecAttrKeyTypeECDSA, "73"), (kSecAttrKeyTypeECSECPrimeRandom, "73"), (kSecAttrKeySizeInBits, "bsiz"),
      (kSecAttrEffectiveKeySize, "esiz"), (kSecAttrApplicationLabel, "klbl"), (kSecAttrApplicationTag, "atag"),
      (kSecAttrIsPermanent, "perm"), (kSecAttrTokenID, "tkid"), (kSecAttrTokenIDSecureEnclave, "com.apple.setoken"),
      (kSecAttrIsSensitive, "sens"), (kSecAttrIsExtractable, "extr"), (kSecAttrCanEncrypt, "encr"),
      (kSecAttrCanDecrypt, "decr"), (kSecAttrCanDerive, "drve"), (kSecAttrCanSign, "sign"),
      (kSecAttrCanVerify, "vrfy"), (kSecAttrCanWrap, "wrap"), (kSecAttrCanUnwrap, "unwp"),
      (kSecPrivateKeyAttrs, "private"), (kSecPublicKeyAttrs, "public"), (kSecMatchPolicy, "m_Policy"),
      (kSecMatchItemList, "m_ItemList"), (kSecMatchSearchList, "m_SearchList"), (kSecMatchIssuers, "m_Issuers"),
      (kSecMatchEmailAddressIfPresent, "m_EmailAddressIfPresent"), (kSecMatchSubjectContains, "m_SubjectContains"),
      (kSecMatchSubjectStartsWith, "m_SubjectStartsWith"), (kSecMatchSubjectEndsWith, "m_SubjectEndsWith"),
      (kSecMatchSubjectWholeString, "m_SubjectWholeString"), (kSecMatchCaseInsensitive, "m_CaseInsensitive"),
      (kSecMatchDiacriticInsensitive, "m_DiacriticInsensitive"), (kSecMatchWidthInsensitive, "m_WidthInsensitive"),
      (kSecMatchTrustedOnly, "m_TrustedOnly"), (kSecMatchValidOnDate, "m_ValidOnDate"), (kSecUseItemList, "u_ItemList"),
      (kSecUseKeychain, "u_Keychain"),
    ]
    for (symbol, value) in table { #expect(symbol == value) }
  }

  @Test func `every status code has a line of its own, and so has a number that is none`() throws {
    var lines: [String: OSStatus] = [:]
    for (name, symbol, _) in statusTable1 + statusTable2 {
      let line = try #require(SecCopyErrorMessageString(symbol, nil), "\(name)")
      #expect(line.hasSuffix(".") && !line.contains("\n") && !line.contains("status code"), "\(name): \(line)")
      #expect(lines.updateValue(symbol, forKey: line) == nil, "\(name): \(line)")
    }
    for status: OSStatus in [-1, 1, -67584, -99999, .min, .max] {
      #expect(SecCopyErrorMessageString(status, nil) == "The status code \(status) is not known.")
    }
  }

  @Test func `flags of access controls have Apple's bits`() {
    let table: [(SecAccessControlCreateFlags, UInt)] = [
      (.userPresence, 1), (.biometryAny, 2), (.touchIDAny, 2), (.biometryCurrentSet, 8), (.touchIDCurrentSet, 8),
      (.devicePasscode, 16), (.watch, 32), (.companion, 32), (.or, 16384), (.and, 32768),
      (.privateKeyUsage, 1_073_741_824), (.applicationPassword, 2_147_483_648),
    ]
    for (flag, bits) in table { #expect(flag.rawValue == bits) }
    #expect(SecAccessControlCreateFlags(rawValue: 3) == [.userPresence, .biometryAny])
  }
}
