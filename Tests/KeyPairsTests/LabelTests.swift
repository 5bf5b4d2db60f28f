import KeyPairs
import SecretMemory
import Testing

@Suite struct LabelTests {
  @Test func `the label is the SHA-1 of the public key's bytes`() throws {
    // By sha1sum over those bytes.
    let curve = try PublicKey(.p256, bytes: hex(P256Tests.generator))
    #expect(try curve.applicationLabel() == hex("b467a3999eb5efa671de0032f08a9c9e5efda0e1"))
    let edwards = try PublicKey(.ed25519, bytes: hex(Ed25519Tests.vectors[0].publicKey))
    #expect(try edwards.applicationLabel() == hex("5b27aa5589179770e47575b162a1ded97b8bfc6d"))
  }

  @Test func `errors are one line, and hold no byte of a key`() {
    let errors: [KeyPairError] = [
      .wrongLength("the digest", expected: 32, found: 1), .invalidPrivateKey(.p256), .invalidPublicKey(.ed25519),
      .malformedSignature, .unsuitable(.ed25519, .p256), .noAgreement(.ed25519), .memory(.outOfMemory(bytes: 32)),
      .library("EVP_PKEY_sign"),
    ]
    for error in errors {
      #expect(error.description.contains(";") && !error.description.contains("\n"))
    }
  }
}
