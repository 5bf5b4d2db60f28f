internal import CCrypto

/// What every use of libcrypto has in common.
enum Libcrypto {
  // Without the configuration file, whose engines and providers have no business near private keys; and without a
  // handler at exit, which would take the library apart under threads that still use it.
  private static let isReady =
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

  /// To be called before anything else of the library.
  static func start() throws(KeyPairError) {
    guard isReady else { throw .library("OPENSSL_init_crypto") }
  }

  /// The error for a function that failed. What the library noted about it in this thread is dropped.
  static func failure(_ function: String) -> KeyPairError {
    ERR_clear_error()
    return .library(function)
  }
}

/// A key of libcrypto's. EVP_PKEY_free cleanses the private part.
struct LibraryKey: ~Copyable {
  let pointer: OpaquePointer

  /// Takes the pointer over (transfer full).
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }
}

/// One operation with a key.
struct LibraryKeyContext: ~Copyable {
  let pointer: OpaquePointer

  /// The context takes a reference of its own to the key.
  init(_ key: borrowing LibraryKey) throws(KeyPairError) {
    guard let pointer = EVP_PKEY_CTX_new(key.pointer, nil) else { throw Libcrypto.failure("EVP_PKEY_CTX_new") }
    self.pointer = pointer
  }

  deinit { EVP_PKEY_CTX_free(pointer) }
}

/// One hash that is signed or checked.
struct LibraryDigestContext: ~Copyable {
  let pointer: OpaquePointer

  init() throws(KeyPairError) {
    guard let pointer = EVP_MD_CTX_new() else { throw Libcrypto.failure("EVP_MD_CTX_new") }
    self.pointer = pointer
  }

  deinit { EVP_MD_CTX_free(pointer) }
}
