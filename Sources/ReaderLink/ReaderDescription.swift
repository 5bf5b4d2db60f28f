/// How a finger is put on a reader (libfprint's `FpScanType`).
public enum ScanType: UInt8, Sendable {
  case swipe = 0
  case press = 1
}

/// What a reader can do, as libfprint reports it; the bits are those of `FpDeviceFeature` in libfprint 1.94.
public struct ReaderFeatures: OptionSet, Sendable, Hashable {
  /// The bits, as libfprint numbers them; unknown ones are kept.
  public let rawValue: UInt32
  /// The features with these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Can hand out the raw image.
  public static let capture = ReaderFeatures(rawValue: 1 << 0)
  /// Can tell which of several prints a finger matches.
  public static let identify = ReaderFeatures(rawValue: 1 << 1)
  /// Can check a finger against one print.
  public static let verify = ReaderFeatures(rawValue: 1 << 2)
  /// Keeps prints on its own chip.
  public static let storage = ReaderFeatures(rawValue: 1 << 3)
  /// Can list the prints on its chip.
  public static let storageList = ReaderFeatures(rawValue: 1 << 4)
  /// Can delete one print from its chip.
  public static let storageDelete = ReaderFeatures(rawValue: 1 << 5)
  /// Can delete every print on its chip.
  public static let storageClear = ReaderFeatures(rawValue: 1 << 6)
  /// Refuses a finger that its chip already knows.
  public static let duplicatesCheck = ReaderFeatures(rawValue: 1 << 7)
  /// Reads all the time, without being armed first.
  public static let alwaysOn = ReaderFeatures(rawValue: 1 << 8)
  /// Its prints can be brought up to date after a match.
  public static let updatePrint = ReaderFeatures(rawValue: 1 << 9)
}

/// One reader as the bridge found it. Everything here came through a USB device and is untrusted text.
public struct ReaderDescription: Sendable, Hashable {
  /// The bridge's own number for this reader, valid for that bridge process alone.
  public var token: UInt32
  /// libfprint's driver identifier, such as `goodixmoc`; names a folder in the print store.
  public var driver: String
  /// libfprint's device identifier, mostly `0`; names a folder in the print store.
  public var deviceID: String
  /// The driver's full name, for people.
  public var name: String
  /// Press or swipe.
  public var scanType: ScanType
  /// What the reader can do.
  public var features: ReaderFeatures
  /// How many good touches an enrolment takes.
  public var enrollStages: UInt32
  /// How warm it is.
  public var temperature: ReaderTemperature
  /// Where the bridge believes the reader to be: `usb:BUS:PORT:PORT` (the way through the hubs, which stays the same when
  /// it is plugged in again there), an SPI or HID path, or nothing. whorld reads the truth from sysfs.
  public var hint: String
  /// Its number among readers of the same driver and device identifier, which the keeper of the bridge gives and which
  /// stays with its place; nil until then. Does not go over the link.
  public var ordinal: Int?

  /// A description with these values.
  public init(
    token: UInt32, driver: String, deviceID: String, name: String, scanType: ScanType, features: ReaderFeatures,
    enrollStages: UInt32, temperature: ReaderTemperature = .cold, hint: String = "", ordinal: Int? = nil
  ) {
    self.token = token
    self.driver = driver
    self.deviceID = deviceID
    self.name = name
    self.scanType = scanType
    self.features = features
    self.enrollStages = enrollStages
    self.temperature = temperature
    self.hint = hint
    self.ordinal = ordinal
  }
}
