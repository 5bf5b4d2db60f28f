// Keychain items: the four functions that Apple documents under "Keychain items" (SecItem.h).
//
// Each may be called from every thread and blocks it until the answer is there; where a person has to be asked, until he
// has answered. None uses Swift's thread pool, so that a full one does not matter. A refusal of a query is noted in the log
// with the key that it is about.

/// Adds an item. Never asks the user.
///
/// - Parameters:
///   - attributes: kSecClass, the item's attributes, kSecValueData, and what of it is returned (kSecReturn…).
///   - result: gets what was asked for; nil where nothing was.
/// - Returns: errSecSuccess; errSecDuplicateItem where there is such an item; errSecParam; errSecInteractionNotAllowed while
///   the item's protection class is locked; errSecNotAvailable without a keychain; and others.
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(ItemRequestError) in
    let request = try ItemAddition(attributes)
    let value = try ItemCall(request.prompting).add(request)
    result?.pointee = value.map { $0 as AnyObject }
  }
}

/// Finds items.
///
/// Only kSecReturnData of a guarded item asks the user, once for each such item, or once for all of them within the reuse
/// time of a context (kSecUseAuthenticationContext).
/// - Parameters:
///   - query: kSecClass, attributes to match, how many (kSecMatchLimit: one, unless it says otherwise), and what is returned.
///   - result: gets a value or a dictionary, or an array of them where more than one was asked for, in the order in which the
///     items were added; nil where nothing was asked for.
/// - Returns: errSecSuccess; errSecItemNotFound; errSecInteractionNotAllowed where the user would have to be asked and must
///   not be; errSecAuthFailed; errSecUserCanceled; errSecParam; errSecNotAvailable; and others.
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(ItemRequestError) in
    result?.pointee = nil
    var search = try ItemSearch(query, for: .copyMatching)
    // Whether there is one is all that can be told then, and nobody is asked for that.
    if result == nil { search.returns = ItemReturns() }
    let values = try ItemCall(search.prompting).copyMatching(search)
    guard !search.returns.isNothing else { return }
    result?.pointee = search.limit == 1 ? values.first.map { $0 as AnyObject } : values as AnyObject
  }
}

/// Changes every item that matches: attributes, secret, access control or all of them.
///
/// Guarded items ask the user, each for itself. Where one of several fails, those before it are changed.
/// - Parameters:
///   - query: kSecClass and attributes to match.
///   - attributesToUpdate: what changes.
/// - Returns: as SecItemCopyMatching; errSecDuplicateItem where a changed item would be one that there is already.
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  status { () throws(ItemRequestError) in
    let search = try ItemSearch(query, for: .update)
    let change = try ItemChange(attributesToUpdate, of: search.itemClass)
    try ItemCall(search.prompting).update(search, change)
  }
}

/// Deletes every item that matches, those whose fingers have changed among them. Never asks the user.
///
/// - Parameter query: kSecClass and attributes to match. Without kSecAttrAccessGroup only this program's own group is
///   searched, so that a query of nothing but a class deletes what this program has stored, and no more.
/// - Returns: errSecSuccess; errSecItemNotFound; errSecParam; errSecNotAvailable; and others.
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  status { () throws(ItemRequestError) in
    let search = try ItemSearch(query, for: .delete)
    try ItemCall(search.prompting).delete(search)
  }
}

/// What a function returns for what its body does; a wrong query is noted in the log.
func status(_ body: () throws(ItemRequestError) -> Void) -> OSStatus {
  do throws(ItemRequestError) {
    try body()
    return errSecSuccess
  } catch {
    if error.status == errSecParam || error.status == errSecUnimplemented { SecLog.refuse(error) }
    return error.status
  }
}
