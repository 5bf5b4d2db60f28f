import Bus
import LocalAuthentication
import TestKit
import Testing
import WhorlClient

/// Keys that are used in an LAContext.
@Suite(.timeLimit(.minutes(3))) struct SecKeyContextTests {
  private static let message = Data("what is signed".utf8)

  private func make(_ flags: SecAccessControlCreateFlags, _ context: LAContext, inEnclave: Bool) throws -> SecKey {
    let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, flags, nil)
    let half: [String: Any] = [
      kSecAttrIsPermanent: true, kSecAttrAccessControl: try #require(control), kSecUseAuthenticationContext: context,
    ]
    var parameters: [String: Any] = [
      kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecPrivateKeyAttrs: half,
    ]
    if inEnclave { parameters[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave }
    var error: Unmanaged<CFError>?
    let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error)
    return try #require(key, "\(error?.takeRetainedValue().localizedDescription ?? "")")
  }

  /// Signs and checks; gives the error's code, 0 for none.
  private func sign(_ key: SecKey) throws -> OSStatus {
    var error: Unmanaged<CFError>?
    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA384
    guard let signature = SecKeyCreateSignature(key, algorithm, Self.message as CFData, &error) else {
      return OSStatus(try #require(error).takeRetainedValue().code)
    }
    let publicKey = try #require(SecKeyCopyPublicKey(key))
    #expect(SecKeyVerifySignature(publicKey, algorithm, Self.message as CFData, signature, nil))
    return 0
  }

  @Test(arguments: [true, false])
  func `One touch serves every use of a key in its context, until that ends`(inEnclave: Bool) async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop)
    let agent = try await OddAgent(scene.world) { _ in throw BusMethodError.failed("not asked") }
    let context = scene.context()
    context.localizedReason = "sign the letters"
    let key = try await offPool { try make(.biometryAny, context, inEnclave: inEnclave) }
    #expect(await agent.heard.isEmpty)
    async let first = offPool { try sign(key) }
    try await agent.hears("Show")
    #expect(await agent.details.first?["reason"]?.asString == "sign the letters")
    try await scene.world.reader.press(.leftLoop)
    #expect(try await first == 0)
    for _ in 0..<3 { #expect(try await offPool { try sign(key) } == 0) }
    #expect(await agent.heard.count(where: { $0 == "Show" }) == 1)
    context.invalidate()
    #expect(try await offPool { try sign(key) } == errSecInvalidContext)
  }

  @Test(arguments: [true, false])
  func `A key under a password of the program's needs the context that has it`(inEnclave: Bool) async throws {
    let scene = try await LocalAuthenticationScene()
    let context = scene.context()
    #expect(context.setCredential(Data("open sesame".utf8), type: .applicationPassword))
    let key = try await offPool { try make(.applicationPassword, context, inEnclave: inEnclave) }
    #expect(try await offPool { try sign(key) } == 0)
    #expect(context.setCredential(Data("wrong".utf8), type: .applicationPassword))
    #expect(try await offPool { try sign(key) } == errSecAuthFailed)
    #expect(context.setCredential(nil, type: .applicationPassword))
    #expect(try await offPool { try sign(key) } == errSecAuthFailed)
  }
}
