/// What an item is known by. Nil in a query matches everything; nil in an update changes nothing.
public struct WhorlAttributes: Hashable, Sendable {
  /// The class's bus name: "generic-password", "internet-password" or "key".
  public var itemClass: String?
  /// What the secret is for, such as a program or a site.
  public var service: String?
  /// Whose it is there.
  public var account: String?
  /// The group that shares the item.
  public var accessGroup: String?
  /// A name for people.
  public var label: String?
  /// What kind of item it is, for people.
  public var itemDescription: String?
  /// A note.
  public var comment: String?
  /// A number of the creating program's.
  public var creator: UInt32?
  /// A number of the creating program's.
  public var type: UInt32?
  /// Bytes of the creating program's. Not secret.
  public var generic: [UInt8]?
  /// Whether listings for people should leave it out.
  public var isInvisible: Bool?
  /// Whether the item stands for "never store one here".
  public var isNegative: Bool?
  /// Whether the program meant it to be synchronized; nothing syncs.
  public var isSynchronizable: Bool?
  /// Of an internet password: the server's name or address.
  public var server: String?
  /// Of an internet password: the port, 0 to 65535.
  public var port: UInt32?
  /// Of an internet password: a four-character code of the protocol, as a number.
  public var protocolType: UInt32?
  /// Of an internet password: the path of the URL.
  public var path: String?
  /// Of an internet password: a four-character code of the way to authenticate, as a number.
  public var authenticationType: UInt32?
  /// Of an internet password: the realm.
  public var securityDomain: String?
  /// Of a key: "public", "private" or "symmetric".
  public var keyClass: String?
  /// Of a key: "ec-p256" or "ed25519".
  public var keyType: String?
  /// Of a key: the hash of the public key that both halves share.
  public var applicationLabel: [UInt8]?
  /// Of a key: bytes of the program's own that find it.
  public var applicationTag: [UInt8]?
  /// Of a key: its size in bits.
  public var keySize: UInt32?
  /// Of a key: its effective size in bits.
  public var effectiveKeySize: UInt32?
  /// Names one item for as long as it is there; in queries and in what is found.
  public var persistentReference: [UInt8]?

  /// Attributes with these set; set the others afterwards.
  public init(itemClass: String? = nil, service: String? = nil, account: String? = nil, label: String? = nil) {
    self.itemClass = itemClass
    self.service = service
    self.account = account
    self.label = label
  }
}

/// What ``WhorlClient/checkKeychain()`` found.
public struct WhorlKeychainReport: Hashable, Sendable {
  /// How many items there are.
  public var items = 0
  /// How many secrets were decrypted by the daemon and are whole.
  public var whole = 0
  /// How many could not be looked at: locked, or with a password of a program's own.
  public var unread = 0
  /// How many lost their secret, as they should.
  public var lost = 0
  /// What is wrong, one line for people each; the first hundred.
  public var problems: [String] = []
  /// How many things are wrong.
  public var problemCount = 0

  /// A report on nothing.
  public init() {}
}

/// What has to be presented before a secret comes out. Names that this version does not know pass through.
public struct WhorlConstraint: RawRepresentable, Hashable, Sendable {
  /// The name on the bus.
  public let rawValue: String
  /// The constraint of this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A finger; the passcode where fingers cannot be used.
  public static let userPresence = WhorlConstraint(rawValue: "user-presence")
  /// A registered finger, also one enrolled later.
  public static let biometryAny = WhorlConstraint(rawValue: "biometry-any")
  /// A registered finger; the item is gone when a finger is enrolled or deleted.
  public static let biometryCurrentSet = WhorlConstraint(rawValue: "biometry-current-set")
  /// The passcode.
  public static let devicePasscode = WhorlConstraint(rawValue: "device-passcode")
  /// A password of the program's own (``WhorlClient/provideApplicationPassword(_:to:)``), mixed into the item's key.
  public static let applicationPassword = WhorlConstraint(rawValue: "application-password")
  /// The use of a private key.
  public static let privateKeyUsage = WhorlConstraint(rawValue: "private-key-usage")
  /// Among several that a person shows: all are needed.
  public static let and = WhorlConstraint(rawValue: "and")
  /// Among several that a person shows: one will do.
  public static let or = WhorlConstraint(rawValue: "or")
}

/// When an item can be read at all. Names that this version does not know pass through.
public struct WhorlProtection: RawRepresentable, Hashable, Sendable {
  /// The name on the bus.
  public let rawValue: String
  /// The protection class of this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Whenever the machine runs.
  public static let always = WhorlProtection(rawValue: "always")
  /// From the first passcode after the login until the logout.
  public static let afterFirstUnlock = WhorlProtection(rawValue: "after-first-unlock")
  /// As that, and not while all graphical sessions are locked.
  public static let whenUnlocked = WhorlProtection(rawValue: "when-unlocked")
  /// As that, and gone for good once the account's password is removed.
  public static let whenPasscodeSet = WhorlProtection(rawValue: "when-passcode-set")

  /// The same, left out of an export.
  public var thisDeviceOnly: WhorlProtection { WhorlProtection(rawValue: rawValue + "-this-device-only") }
}

/// What guards an item.
public struct WhorlAccessControl: Hashable, Sendable {
  /// When it can be read at all.
  public var protection: WhorlProtection
  /// What has to be presented; several of a person's with ``WhorlConstraint/and`` or ``WhorlConstraint/or``.
  public var constraints: [WhorlConstraint]

  /// An access control of these.
  public init(protection: WhorlProtection = .always, constraints: [WhorlConstraint] = []) {
    self.protection = protection
    self.constraints = constraints
  }
}

/// An item as CopyMatching gives it: everything but the secret.
public struct WhorlItem: Hashable, Sendable {
  /// What it is known by.
  public var attributes = WhorlAttributes()
  /// What its secret asks for.
  public var constraints: [WhorlConstraint] = []
  /// The protection class's bus name.
  public var protection = ""
  /// When it was added, in seconds since 1970.
  public var created: Int64 = 0
  /// When it was last changed, in seconds since 1970.
  public var modified: Int64 = 0
  /// The fingers changed and the secret was destroyed.
  public var isInvalidated = false
  /// The account's password was removed and the secret was destroyed.
  public var isPasscodeRemoved = false

  /// An item without anything.
  public init() {}
}

/// What to evaluate.
public enum WhorlPolicy: String, Hashable, Sendable {
  /// Fingers only.
  case biometrics
  /// Fingers, or the passcode.
  case owner
  /// The passcode alone.
  case passcode
}

/// How a running request is ended.
public enum WhorlCancelKind: String, Hashable, Sendable {
  /// As the user's wish: userCancel.
  case user
  /// As the program's: appCancel.
  case app
  /// In favour of the passcode: userFallback.
  case fallback
}

/// How a prompt is made. Nil leaves it to the daemon.
public struct WhorlPrompt: Hashable, Sendable {
  /// Why the user is asked, for the user.
  public var reason: String
  /// How long to wait for a touch: 1 to 300 seconds.
  public var timeoutSeconds: UInt32?
  /// How many touches: 1 to 5.
  public var maxTries: UInt32?
  /// Whether the request fails with `.notInteractive` rather than prompt.
  public var interactionNotAllowed = false
  /// Whether the person may choose another way than the finger also where the passcode would not do: `.userFallback`, and
  /// the program goes on by itself.
  public var offersFallback = false

  /// A prompt for this reason.
  public init(
    reason: String, timeoutSeconds: UInt32? = nil, maxTries: UInt32? = nil, interactionNotAllowed: Bool = false
  ) {
    self.reason = reason
    self.timeoutSeconds = timeoutSeconds
    self.maxTries = maxTries
    self.interactionNotAllowed = interactionNotAllowed
  }
}

/// What a running request reports. Texts are free of control characters, but come from a reader or the daemon.
public enum WhorlProgress: Hashable, Sendable {
  /// Others come first.
  case queued
  /// The reader waits for one of these fingers. The scan type is "press" or "swipe".
  case waiting(reader: String, scanType: String, fingers: [String])
  /// The touch was not good enough: "general", "too-short", "center-finger", "remove-finger", "too-fast".
  case retry(reason: String)
  /// The wrong finger.
  case noMatch(triesLeft: Int)
  /// That was it.
  case matched(finger: String)
  /// Something that this version does not know.
  case other(event: String)
}

/// An authentication context. It ends with the connection, by ``WhorlClient/invalidate(_:)``, or with the daemon.
public struct WhorlContext: Hashable, Sendable {
  /// The daemon's number for it.
  public let number: UInt32
  /// The instance of the daemon that knows the number, such as :1.7.
  public let daemon: String

  /// For transports.
  public init(number: UInt32, daemon: String) {
    self.number = number
    self.daemon = daemon
  }
}

/// What there is to know without asking for a finger. Texts are free of control characters.
public struct WhorlStatus: Hashable, Sendable {
  /// A reader that is there.
  public struct Reader: Hashable, Sendable {
    /// Its product name.
    public var name = ""
    /// libfprint's name of its driver.
    public var driver = ""
    /// "press" or "swipe".
    public var scanType = ""
    /// Its object of net.reactivated.Fprint.
    public var path = ""
    /// Whether it may open secrets.
    public var isTrusted = false
    /// "ok", "busy", "blocked", "too-hot" or "failed", as last seen; empty where an older daemon does not say.
    public var state = ""
    /// What is the matter with it, for people.
    public var stateDetail = ""
    /// The caller's fingers that are enrolled on it.
    public var enrolled: [String] = []
    /// The caller's fingers that its chip has lost, so that they have to be enrolled again.
    public var chipLost: [String] = []
    /// How many prints on its chip nobody on this machine has.
    public var chipForeign = 0

    /// A reader without anything.
    public init() {}
  }

  /// A USB device that is a reader, but not one that can be used.
  public struct UnlistedReader: Hashable, Sendable {
    /// Vendor and product, such as "04f3:0c4c".
    public var usbID = ""
    /// Whether libfprint has a driver for it.
    public var isSupported = false
    /// Its device node.
    public var node = ""

    /// A device without anything.
    public init() {}
  }

  /// The daemon's version.
  public var version = ""
  /// Whether it runs in private mode.
  public var isPrivate = false
  /// "host", "host+tpm2" or "unavailable".
  public var deviceKey = ""
  /// Why the device key is unavailable.
  public var deviceKeyError = ""
  /// Why the caller's keychain is unavailable; empty where it is not.
  public var storeError = ""
  /// The readers, the default one first.
  public var readers: [Reader] = []
  /// Where there is no reader: USB devices that are one all the same.
  public var unlisted: [UnlistedReader] = []
  /// The uid of an account that had the caller's name before and whose prints are still there; nil where none are.
  public var formerPrints: UInt32?
  /// The name under which what belongs to the caller's uid is kept, where that is not the caller's: after a renaming of
  /// the account, or of another account that had the uid. Nil where there is none.
  public var formerName: String?
  /// The caller's enrolled fingers.
  public var enrolled: [String] = []
  /// Those whose print file is damaged.
  public var unreadable: [String] = []
  /// Those that open a login but no secret.
  public var unregistered: [String] = []
  /// "available", "no-reader", "not-enrolled", "not-trusted", "locked-out" or "failed".
  public var biometry = ""
  /// Whether no finger counts after too many misses until the passcode was given, whatever ``biometry`` is.
  public var isLockedOut = false
  /// Why biometry failed.
  public var biometryError = ""
  /// Bytes that change when a finger that opens secrets is enrolled or deleted, and only then; empty where there is none.
  public var biometrySet: [UInt8] = []
  /// Misses in a row so far.
  public var misses = 0
  /// Misses in a row that lock biometry.
  public var missesAllowed = 0
  /// "set", "not-set" or "unknown".
  public var passcode = ""
  /// How many seconds the next passcode has to wait.
  public var passcodeDelay = 0
  /// "unused" (no passcode was given yet), "locked", "session-locked", "unlocked" or "former-passcode-needed"; empty where
  /// the keychain cannot be had.
  public var keybag = ""
  /// Whether there is a recovery key.
  public var hasRecoveryKey = false
  /// What encrypts the caller's home: "systemd-homed", "eCryptfs", "fscrypt" or "pam_mount"; empty for an ordinary home.
  public var homeKeeper = ""
  /// Whether that home is closed now, so that a login takes no finger.
  public var isHomeLocked = false
  /// Where the keychain's device key is lost: what brings it back, of "recovery-key" and "passcode".
  public var recoverableBy: [String] = []
  /// Which agent shows what the caller's programs ask for: "session" (one of a session), "service" (one of the user's
  /// own) or "none"; empty where an older daemon does not say.
  public var agent = ""
  /// What the agent calls itself.
  public var agentProgram = ""
  /// The agent's process; nil where it is not known.
  public var agentProcess: UInt32?

  /// Logins at which no finger was asked for the last time.
  public var loginRefusals: [LoginRefusal] = []

  /// A PAM service at which no finger was asked for, and why.
  public struct LoginRefusal: Hashable, Sendable {
    /// The service, such as "sudo".
    public var service = ""
    /// One line for people.
    public var reason = ""
  }

  /// A status without anything.
  public init() {}
}

/// What ``WhorlClient/accountStatus(_:)`` tells root about another account.
public struct WhorlAccountStatus: Hashable, Sendable {
  /// Whether there is such an account; false: there is not any more, but something is kept.
  public var hasAccount = false
  /// As ``WhorlStatus/formerName``.
  public var formerName: String?
  /// Why its keychain cannot be had; empty where it can, or where it has none.
  public var storeError = ""
  /// Whether no finger of it counts until it gave its passcode.
  public var isLockedOut = false
  /// Misses in a row so far.
  public var misses = 0
  /// Misses in a row that lock fingers; 0 where that is not known.
  public var missesAllowed = 0
  /// How many of its secrets end when a finger is enrolled or deleted.
  public var boundSecrets = 0

  /// An account of which nothing is known.
  public init() {}
}

/// Whose data ``WhorlClient/forget(_:)`` removes.
public enum WhorlForgetTarget: Hashable, Sendable {
  /// What is kept for an account of this name, whether there is one or not.
  case name(String)
  /// What is kept for this uid, whoever it belongs to.
  case uid(UInt32)
}

/// What ``WhorlClient/forget(_:)`` removed. Texts are free of control characters.
public struct WhorlForgotten: Hashable, Sendable {
  /// Items.
  public var items = 0
  /// Keychains with all that was in them.
  public var keychains = 0
  /// How many of those could not be read, so that their items were not counted.
  public var unreadKeychains = 0
  /// Prints on the disk.
  public var prints = 0
  /// How many of those were taken off readers' chips as well.
  public var chipPrints = 0
  /// What could not be removed, and why.
  public var remains: [String] = []
  /// Readers that were not there, as driver/device-id; their chips may hold prints that are nobody's now.
  public var absentReaders: [String] = []

  /// Nothing removed.
  public init() {}
}

/// What ``WhorlClient/renameUser(from:to:)`` handed over.
public struct WhorlRenamed: Hashable, Sendable {
  /// Whether there was a keychain.
  public var keychain = false
  /// Whether there were prints.
  public var prints = false

  /// Nothing.
  public init() {}
}
