// What a call returns, and values that a query gives.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// Whether to return attributes, as a dictionary.
public let kSecReturnAttributes: CFString = "r_Attributes"
/// Whether to return the secret, as data. For a guarded item the user is asked.
public let kSecReturnData: CFString = "r_Data"
/// Whether to return persistent references, as data.
public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// Whether to return references: keys.
public let kSecReturnRef: CFString = "r_Ref"
/// The same as ``kSecReturnPersistentRef``: a name that tests of keychain wrappers use, and not Apple's.
public let kSecReturnWorkingReference: CFString = "r_PersistentRef"
/// The secret, as data; none at all is allowed, 1 MiB is the most.
public let kSecValueData: CFString = "v_Data"
/// A persistent reference, as data: it names one item for as long as it is there.
public let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// A reference: a key.
public let kSecValueRef: CFString = "v_Ref"
/// The same as ``kSecValuePersistentRef``: a name that tests of keychain wrappers use, and not Apple's.
public let kSecValueWorkingReference: CFString = "v_PersistentRef"
