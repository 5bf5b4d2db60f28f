internal import CSodium

/// A fingerprint reader by what it is and where it stands, as the daemon itself has found out from the kernel: never by
/// the word of a driver, and so never by that of the reader.
public struct ReaderPlace: Hashable, Sendable {
  /// Whether the reader can be unplugged.
  public enum Attachment: UInt8, Sendable {
    /// Nobody says.
    case unknown = 0
    /// It is built in.
    case fixed = 1
    /// It is plugged in.
    case removable = 2
    /// It is no reader at all but a test's; only private mode has any.
    case virtual = 3
  }

  /// libfprint's driver identifier.
  public let driver: String
  /// libfprint's device identifier, mostly `0`.
  public let deviceID: String
  /// Where it stands, with nothing in it that another start or another plugging in changes; 1 to 1024 bytes.
  public let path: String
  /// What kind of device stands there, such as `04f3:0c4c`; empty where the kernel does not say.
  public let hardware: String
  /// Whether it can be unplugged.
  public let attachment: Attachment

  /// A place with these values.
  public init(driver: String, deviceID: String, path: String, hardware: String, attachment: Attachment) {
    self.driver = driver
    self.deviceID = deviceID
    self.path = path
    self.hardware = hardware
    self.attachment = attachment
  }

  /// Eight hexadecimal digits by which people name it; the same as long as it stands there.
  public var id: String {
    var hash = [UInt8](repeating: 0, count: 16)
    let form = encoded
    // Unkeyed: it is no secret, and nothing but the choice of a person depends on it.
    _ = crypto_generichash(&hash, hash.count, form, UInt64(form.count), nil, 0)
    return hash.prefix(4).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// Whether the two are of one kind, wherever they stand.
  public func isKind(of other: ReaderPlace) -> Bool { driver == other.driver && deviceID == other.deviceID }

  var encoded: [UInt8] {
    var writer = ByteWriter()
    for text in [driver, deviceID, path, hardware] { writer.write(text.utf8) }
    writer.write(attachment.rawValue)
    return writer.bytes
  }
}

/// A reader whose matches may release a user's secrets.
public struct TrustedReader: Hashable, Sendable {
  /// 16 random bytes, new each time that one is trusted.
  public let id: [UInt8]
  /// What it is and where it stands.
  public let place: ReaderPlace
  /// Its product name, for people. A reader says it of itself.
  public let name: String
  /// When it was trusted, in seconds since 1970.
  public let trustedAt: Int64
}
