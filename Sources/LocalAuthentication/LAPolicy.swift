/// What has to be shown. The numbers are Apple's.
public enum LAPolicy: Int, Sendable {
  /// A finger that opens secrets, and nothing else.
  case deviceOwnerAuthenticationWithBiometrics = 1
  /// A finger that opens secrets, or the account's password: where the person chooses that, where fingers are locked out,
  /// and where there is no reader or no finger. The agent asks for the password; the program never sees it.
  case deviceOwnerAuthentication = 2
  /// A device nearby. Linux has none: ``LAError/Code/companionNotAvailable``.
  case deviceOwnerAuthenticationWithCompanion = 3
  /// A finger or a device nearby: here as ``deviceOwnerAuthenticationWithBiometrics``, since there are no such devices.
  case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

  /// The former name of ``deviceOwnerAuthenticationWithCompanion``.
  public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
  /// The former name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
  public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
    deviceOwnerAuthenticationWithBiometricsOrCompanion
}

/// What an access control is evaluated for. The numbers are Apple's.
public enum LAAccessControlOperation: Int, Sendable {
  /// To add an item. Asks for nothing.
  case createItem = 0
  /// To read an item's secret.
  case useItem = 1
  /// To make a key. Asks for nothing.
  case createKey = 2
  /// To sign with a key.
  case useKeySign = 3
  /// To decrypt with a key.
  case useKeyDecrypt = 4
  /// To agree upon a key with another party.
  case useKeyKeyExchange = 5
}

/// What a program can give to a context. The numbers are Apple's.
public enum LACredentialType: Int, Sendable {
  /// The program's own password for items that have one (`SecAccessControlCreateFlags.applicationPassword`).
  case applicationPassword = 0
  /// The PIN of a smart card. There is no meaning for it here: ``LAContext/setCredential(_:type:)`` refuses it.
  case smartCardPIN = -3
}

/// What kind of biometry there is. The numbers are Apple's.
public enum LABiometryType: Int, Sendable {
  /// No reader, or no enclave that could tell.
  case none = 0
  /// A fingerprint reader.
  case touchID = 1
  /// Faces. Never here.
  case faceID = 2
  /// Irises. Never here.
  case opticID = 4

  /// The former name of ``none``.
  public static let LABiometryNone = LABiometryType.none
}

/// The longest ``LAContext/touchIDAuthenticationAllowableReuseDuration`` that has an effect: 300 seconds.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300
