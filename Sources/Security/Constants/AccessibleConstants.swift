// When an item can be read: what `kSecAttrAccessible` can be.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// Not while the user's screen is locked, and from the first passcode after a login on. What items have by default.
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// From the first passcode after a login until the logout.
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Whenever the machine runs.
public let kSecAttrAccessibleAlways: CFString = "dk"
/// As when unlocked, and gone for good once the account's password is removed; left out of exports.
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// As ``kSecAttrAccessibleWhenUnlocked``, and left out of exports.
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// As ``kSecAttrAccessibleAfterFirstUnlock``, and left out of exports.
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// As ``kSecAttrAccessibleAlways``, and left out of exports.
public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
