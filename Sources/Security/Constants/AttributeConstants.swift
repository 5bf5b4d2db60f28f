// Attributes of passwords and of items of every class.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// An access list of macOS's file keychains. It has no meaning here and is refused.
public let kSecAttrAccess: CFString = "acls"
/// What guards the item, as a ``SecAccessControl``; instead of ``kSecAttrAccessible``.
public let kSecAttrAccessControl: CFString = "accc"
/// The group of programs that the item belongs to, as a string. Left out, it is the program's own.
public let kSecAttrAccessGroup: CFString = "agrp"
/// When the item can be read at all: one of the `kSecAttrAccessible…` values.
public let kSecAttrAccessible: CFString = "pdmn"
/// Whose the item is at its service or server, as a string.
public let kSecAttrAccount: CFString = "acct"
/// A note for people, as a string.
public let kSecAttrComment: CFString = "icmt"
/// When the item was added, as a date; read-only, in whole seconds.
public let kSecAttrCreationDate: CFString = "cdat"
/// A number of the creating program's, 0 to 4294967295.
public let kSecAttrCreator: CFString = "crtr"
/// What kind of item it is, for people, as a string.
public let kSecAttrDescription: CFString = "desc"
/// Bytes of the program's own, not secret, at most 4096; of generic passwords.
public let kSecAttrGeneric: CFString = "gena"
/// Whether lists for people should leave the item out.
public let kSecAttrIsInvisible: CFString = "invi"
/// Whether the item only says that there is no password.
public let kSecAttrIsNegative: CFString = "nega"
/// A name for people, as a string.
public let kSecAttrLabel: CFString = "labl"
/// When the item was last changed, as a date; read-only, in whole seconds.
public let kSecAttrModificationDate: CFString = "mdat"
/// What a generic password is for, as a string.
public let kSecAttrService: CFString = "svce"
/// Whether the item is meant to be synchronized. It is stored and told apart by; nothing synchronizes.
public let kSecAttrSynchronizable: CFString = "sync"
/// In a query: synchronizable or not.
public let kSecAttrSynchronizableAny: CFString = "syna"
/// A number of the creating program's, 0 to 4294967295; of passwords.
public let kSecAttrType: CFString = "type"
/// The password in what ``SecRequestSharedWebCredential(_:_:_:)`` gives.
public let kSecSharedPassword: CFString = "spwd"
