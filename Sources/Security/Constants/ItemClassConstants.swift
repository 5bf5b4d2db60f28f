// Item classes: what `kSecClass` in a query can be.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// The key under which a query says what class of item it is about.
public let kSecClass: CFString = "class"
/// A password or other secret, known by service and account.
public let kSecClassGenericPassword: CFString = "genp"
/// A password for a server.
public let kSecClassInternetPassword: CFString = "inet"
/// A certificate. None are kept here: adding is `errSecUnimplemented`, searching finds none.
public let kSecClassCertificate: CFString = "cert"
/// A cryptographic key.
public let kSecClassKey: CFString = "keys"
/// A key with its certificate. None are kept here: adding is `errSecUnimplemented`, searching finds none.
public let kSecClassIdentity: CFString = "idnt"
