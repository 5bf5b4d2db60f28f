/// An attribute that an item can have (Apple: kSecAttr…). Its number is part of the file format.
public enum ItemAttribute: UInt8, Sendable, CaseIterable {
  /// What the secret is for (kSecAttrService).
  case service = 1
  /// Whose it is there (kSecAttrAccount).
  case account
  /// The group of programs it belongs to (kSecAttrAccessGroup).
  case accessGroup
  /// A name for people (kSecAttrLabel).
  case label
  /// A kind for people (kSecAttrDescription).
  case itemDescription
  /// A note for people (kSecAttrComment).
  case comment
  /// A four-character code of the creator (kSecAttrCreator).
  case creator
  /// A four-character code of the type (kSecAttrType).
  case type
  /// Bytes of the program's own (kSecAttrGeneric).
  case generic
  /// Whether lists for people should leave it out (kSecAttrIsInvisible).
  case invisible
  /// Whether it only notes that there is no password (kSecAttrIsNegative).
  case negative
  /// Whether the program meant it to be synchronized (kSecAttrSynchronizable); stored, and nothing syncs.
  case synchronizable
  /// The server's name or address (kSecAttrServer).
  case server
  /// The server's port (kSecAttrPort).
  case port
  /// A four-character code of the protocol (kSecAttrProtocol).
  case protocolType
  /// The path of the URL (kSecAttrPath).
  case path
  /// A four-character code of the way to authenticate (kSecAttrAuthenticationType).
  case authenticationType
  /// The realm that the password is for (kSecAttrSecurityDomain).
  case securityDomain
  /// Which half of a key, see `KeyRole` (kSecAttrKeyClass).
  case keyRole
  /// The kind of key, see `KeyType` (kSecAttrKeyType).
  case keyType
  /// The hash of the public key that both halves share (kSecAttrApplicationLabel).
  case applicationLabel
  /// Bytes of the program's own that find the key (kSecAttrApplicationTag).
  case applicationTag
  /// The size of the key (kSecAttrKeySizeInBits).
  case keySizeInBits
  /// The effective size of the key (kSecAttrEffectiveKeySize).
  case effectiveKeySize

  /// What the value of an attribute is.
  public enum Kind: Sendable {
    /// Text of at most `KeychainLimits.textBytes` bytes.
    case text
    /// A number of 32 bits.
    case number
    /// At most `KeychainLimits.genericBytes` bytes.
    case bytes
    /// Yes or no.
    case flag
  }

  /// What its value is.
  public var kind: Kind {
    switch self {
    case .service, .account, .accessGroup, .label, .itemDescription, .comment, .server, .path, .securityDomain,
      .keyRole, .keyType:
      .text
    case .creator, .type, .port, .protocolType, .authenticationType, .keySizeInBits, .effectiveKeySize: .number
    case .generic, .applicationLabel, .applicationTag: .bytes
    case .invisible, .negative, .synchronizable: .flag
    }
  }

  /// The name on the bus, such as `access-group`.
  public var name: String {
    switch self {
    case .service: "service"
    case .account: "account"
    case .accessGroup: "access-group"
    case .label: "label"
    case .itemDescription: "description"
    case .comment: "comment"
    case .creator: "creator"
    case .type: "type"
    case .generic: "generic"
    case .invisible: "invisible"
    case .negative: "negative"
    case .synchronizable: "synchronizable"
    case .server: "server"
    case .port: "port"
    case .protocolType: "protocol"
    case .path: "path"
    case .authenticationType: "authentication-type"
    case .securityDomain: "security-domain"
    case .keyRole: "key-class"
    case .keyType: "key-type"
    case .applicationLabel: "application-label"
    case .applicationTag: "application-tag"
    case .keySizeInBits: "key-size"
    case .effectiveKeySize: "effective-key-size"
    }
  }

  /// What an item without the attribute counts as having, for searches and uniqueness; nil for nothing.
  var absentValue: AttributeValue? {
    switch self {
    case .service, .account, .accessGroup: .text("")
    default: nil
    }
  }
}

/// The value of an attribute. Texts are compared byte for byte: what only looks the same is another.
public enum AttributeValue: Hashable, Sendable {
  /// A text.
  case text(String)
  /// A number.
  case number(UInt32)
  /// Bytes.
  case bytes([UInt8])
  /// Yes or no.
  case flag(Bool)

  /// Byte for byte: `==` of texts takes differently composed letters for the same.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    case (.number(let left), .number(let right)): left == right
    case (.bytes(let left), .bytes(let right)): left == right
    case (.flag(let left), .flag(let right)): left == right
    default: false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(encoded)
  }

  /// The one byte form of the value.
  var encoded: [UInt8] {
    switch self {
    case .text(let text): Array(text.utf8)
    case .number(let number): withUnsafeBytes(of: number.littleEndian) { Array($0) }
    case .bytes(let bytes): bytes
    case .flag(let flag): [flag ? 1 : 0]
    }
  }

  /// The value of that byte form; nil where the bytes are no such form.
  init?(_ kind: ItemAttribute.Kind, encoded bytes: [UInt8]) {
    switch kind {
    case .text:
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      self = .text(text)
    case .number:
      guard bytes.count == 4 else { return nil }
      self = .number(bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
    case .bytes: self = .bytes(bytes)
    case .flag:
      guard bytes == [0] || bytes == [1] else { return nil }
      self = .flag(bytes == [1])
    }
  }
}

/// Which half of a key an item is (Apple: kSecAttrKeyClass). The raw value is its name on the bus.
public enum KeyRole: String, Sendable, CaseIterable {
  /// The public half.
  case `public`
  /// The private half; it never leaves the keychain.
  case `private`
  /// A key that has no halves.
  case symmetric
}

/// The kind of a key (Apple: kSecAttrKeyType). The raw value is its name on the bus.
public enum KeyType: String, Sendable, CaseIterable {
  /// An elliptic curve key over P-256.
  case ecP256 = "ec-p256"
  /// An Ed25519 key.
  case ed25519
}
