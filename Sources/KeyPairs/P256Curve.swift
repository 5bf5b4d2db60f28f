internal import CCrypto
internal import SecretMemory

/// The arithmetic of the curve P-256: which scalars and points there are, and which point belongs to a scalar.
struct P256Curve: ~Copyable {
  static let scalarBytes = 32
  static let pointBytes = 65

  private let group: OpaquePointer
  private let scratch: OpaquePointer

  init() throws(KeyPairError) {
    try Libcrypto.start()
    guard let group = EC_GROUP_new_by_curve_name(Int32(ccrypto_P256)) else {
      throw Libcrypto.failure("EC_GROUP_new_by_curve_name")
    }
    guard let scratch = BN_CTX_secure_new() else {
      EC_GROUP_free(group)
      throw Libcrypto.failure("BN_CTX_secure_new")
    }
    self.group = group
    self.scratch = scratch
  }

  deinit {
    BN_CTX_free(scratch)  // clears the numbers in it
    EC_GROUP_free(group)
  }

  /// The uncompressed point of a scalar of 32 bytes; nil where that is not 1 to the order of the curve less 1.
  func point(of scalar: borrowing SecretBytes) throws(KeyPairError) -> [UInt8]? {
    guard let number = BN_secure_new() else { throw Libcrypto.failure("BN_secure_new") }
    defer { BN_clear_free(number) }
    BN_set_flags(number, BN_FLG_CONSTTIME)
    let isRead = scalar.withUnsafeBytes { bytes in
      BN_bin2bn(bytes.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: bytes.count), number) != nil
    }
    guard isRead else { throw Libcrypto.failure("BN_bin2bn") }
    guard BN_is_zero(number) == 0, BN_cmp(number, EC_GROUP_get0_order(group)) < 0 else { return nil }
    guard let point = EC_POINT_new(group) else { throw Libcrypto.failure("EC_POINT_new") }
    defer { EC_POINT_clear_free(point) }
    guard EC_POINT_mul(group, point, number, nil, nil, scratch) == 1 else { throw Libcrypto.failure("EC_POINT_mul") }
    var bytes = [UInt8](repeating: 0, count: Self.pointBytes)
    let count = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, scratch)
    guard count == bytes.count else { throw Libcrypto.failure("EC_POINT_point2oct") }
    return bytes
  }

  /// Whether the bytes are a point of the curve, uncompressed. Every such point but infinity, which has no such form,
  /// generates the whole group.
  func isPoint(_ bytes: [UInt8]) throws(KeyPairError) -> Bool {
    guard bytes.count == Self.pointBytes, bytes.first == 4 else { return false }
    guard let point = EC_POINT_new(group) else { throw Libcrypto.failure("EC_POINT_new") }
    defer { EC_POINT_free(point) }
    defer { ERR_clear_error() }
    return EC_POINT_oct2point(group, point, bytes, bytes.count, scratch) == 1
  }
}
