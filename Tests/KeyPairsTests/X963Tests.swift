import KeyPairs
import SecretMemory
import Testing

@Suite struct X963Tests {
  /// NIST's "ansx963_2001" vectors for SHA-256, and what an independent implementation gives for the longer hashes.
  private static let vectors: [(hash: X963KDF, secret: String, info: String, key: String)] = [
    (.sha256, "96c05619d56c328ab95fe84b18264b08725b85e33fd34f08", "", "443024c3dae66b95e6f5670601558f71"),
    (
      .sha256, "22518b10e70f2a3f243810ae3254139efbee04aa57c7af7d", "75eef81aa3041e33b80971203d2c0c52",
      """
      c498af77161cc59f2962b9a713e2b215152d139766ce34a776df11866a69bf2e52a13d9c7c6fc878c50c5ea0bc7b00e0da2447cfd874f6cf92
      f30d0097111485500c90c3af8b487872d04685d14c8d1dc8d7fa08beb0ce0ababc11f0bd496269142d43525a78e5bc79a17f59676a5706dc54
      d54d4d1f0bd7e386128ec26afc21
      """
    ),
    (
      .sha384, "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b", "626f7468206b6e6f77",
      """
      0afb027d8393b86828d07ca4e14e19ab46bd967f72537969a3bc5b728e055c2851cbfd40576a00c67d5211dfe7aa2f7fa519c71bae4848a78e
      173af0a7606a7432dbd5537ac3dd6c8b88ae28fbbd92822633ea9ff8c323cdb6311b2e77f65f9b55a50746
      """
    ),
    (
      .sha512, "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b", "626f7468206b6e6f77",
      """
      54968e34fac20263d0e92d00039b52a34c4db9eb7bacd93dba9266bb6809688168a871b6e87348f93ba4e96c92242119654ac6fcd710f1ab1d
      4d4db6cba861cf603562d7c9e322176041e0e7ff99e599718c1bc7375160d839b503982ccb0cd5716699b3
      """
    ),
  ]

  @Test(arguments: vectors)
  func `keys are those of the standard`(vector: (hash: X963KDF, secret: String, info: String, key: String)) throws {
    let expected = hex(vector.key)
    let derived = try vector.hash.derive(
      from: try secret(hex(vector.secret)), sharedInfo: hex(vector.info), count: expected.count)
    #expect(array(derived) == expected)
    // A shorter one is its beginning.
    let one = try vector.hash.derive(from: try secret(hex(vector.secret)), sharedInfo: hex(vector.info), count: 1)
    #expect(array(one) == [expected[0]])
  }

  @Test(arguments: [0, -1, Int.min, X963KDF.mostBytes + 1]) func `no key has so many bytes`(count: Int) throws {
    let shared = try secret([1, 2, 3])
    #expect(throws: KeyPairError.self) {
      _ = try X963KDF.sha256.derive(from: shared, sharedInfo: [], count: count).count
    }
  }
}
