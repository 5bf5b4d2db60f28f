/// What `whorl key` is asked for.
enum KeyInvocation: Sendable, Equatable {
  case generate(name: String, kind: KeyKind, requirement: Requirement, accessible: Accessibility)
  case list
  /// `raw`: the bytes alone, and not as PEM.
  case publicKey(name: String, raw: Bool)
  /// No hash: SHA-256 where the key takes one. `isDigest`: the input is the hash itself.
  case sign(name: String, hash: SignatureHash?, isDigest: Bool)
  case delete(name: String)
}

/// The words after `whorl key`.
enum KeyVerb: String, Sendable, CaseIterable {
  case generate, list, sign, delete
  case publicKey = "public"
}

/// The values of `--type`.
enum KeyKind: String, Sendable, CaseIterable {
  case ed25519, p256

  /// The type as the bus names it.
  var busName: String {
    switch self {
    case .ed25519: "ed25519"
    case .p256: "ec-p256"
    }
  }

  /// The kind of that name on the bus; nil where this version has no word for it.
  init?(busName: String) {
    guard let found = Self.allCases.first(where: { $0.busName == busName }) else { return nil }
    self = found
  }
}

/// The values of `--hash`.
enum SignatureHash: String, Sendable, CaseIterable {
  case sha256, sha384, sha512

  /// How many bytes it has.
  var bytes: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }
}
