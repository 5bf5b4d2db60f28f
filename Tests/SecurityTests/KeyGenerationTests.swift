import Security
import Testing
import WhorlClient

@Suite struct KeyGenerationTests {
  private func generation(_ parameters: [String: Any]) throws(ItemRequestError) -> KeyGeneration {
    try KeyGeneration(parameters as CFDictionary, group: "own")
  }

  @Test func `the usual key in the enclave`() throws {
    let control = sampleControl([.biometryAny, .privateKeyUsage])
    let context = SampleContext()
    let made = try generation([
      kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
      kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
      kSecPrivateKeyAttrs as String: [
        kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: Data("tag".utf8),
        kSecAttrAccessControl as String: control, kSecUseAuthenticationContext as String: context,
      ] as [String: Any],
    ])
    #expect(made.type == .p256 && made.isInEnclave && made.prompting.context === context)
    #expect(made.privateHalf.isPermanent && !made.publicHalf.isPermanent)
    #expect(made.privateHalf.accessControl == control.control)
    #expect(made.privateHalf.attributes.applicationTag == Array("tag".utf8))
    #expect(made.privateHalf.attributes.keyClass == "private" && made.publicHalf.attributes.keyClass == "public")
    #expect(made.privateHalf.attributes.itemClass == "key" && made.privateHalf.attributes.keyType == "ec-p256")
    #expect(made.privateHalf.attributes.accessGroup == "own" && made.publicHalf.attributes.applicationTag == nil)
  }

  @Test func `what is said once goes for both halves, unless one of them says otherwise`() throws {
    let made = try generation([
      kSecAttrKeyType: kSecAttrKeyTypeEd25519, kSecAttrIsPermanent: true, kSecAttrLabel: "both",
      kSecPublicKeyAttrs: [kSecAttrIsPermanent: false, kSecAttrLabel: "public"] as NSDictionary,
    ])
    #expect(made.type == .ed25519 && !made.isInEnclave)
    #expect(made.privateHalf.isPermanent && made.privateHalf.attributes.label == "both")
    #expect(!made.publicHalf.isPermanent && made.publicHalf.attributes.label == "public")
    #expect(made.privateHalf.accessControl == WhorlAccessControl(protection: .whenUnlocked))
  }

  @Test func `what cannot be made is refused by name`() {
    let type: Pairs = [kSecAttrKeyType: kSecAttrKeyTypeEC]
    let table: [(Pairs, OSStatus, String)] = [
      ([:], errSecParam, "kSecAttrKeyType) is missing"),
      ([kSecAttrKeyType: kSecAttrKeyTypeRSA], errSecUnimplemented, "kSecAttrKeyType)"),
      ([kSecAttrKeyType: "RSA"], errSecParam, "kSecAttrKeyType)"),
      ([kSecAttrKeySizeInBits: 384], errSecUnimplemented, "kSecAttrKeySizeInBits must be 256"),
      ([kSecAttrTokenID: "other"], errSecParam, "kSecAttrTokenID"),
      ([kSecClass: kSecClassGenericPassword], errSecParam, "kSecClass"),
      ([kSecAttrService: "s"], errSecParam, "kSecAttrService"),
      ([kSecPrivateKeyAttrs: "x"], errSecParam, "kSecPrivateKeyAttrs must be a dictionary"),
      ([kSecPrivateKeyAttrs: [kSecAttrCanSign: true]], errSecParam, "kSecAttrCanSign"),
      ([kSecPublicKeyAttrs: ["x": true]], errSecParam, "\"x\" is not known"),
    ]
    for (pairs, status, part) in table {
      let parameters: Pairs = pairs.isEmpty ? [:] : type.merging(pairs) { $1 }
      let error = refusal { () throws(ItemRequestError) in try generation(parameters) }
      #expect(
        error?.status == status && error?.message.contains(part) == true, "\(pairs): \(String(describing: error))")
    }
  }
}
