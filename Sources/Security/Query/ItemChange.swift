package import WhorlClient

/// What SecItemUpdate is asked to change: its second dictionary.
package struct ItemChange: Hashable, Sendable {
  /// The attributes to change; nil for those that stay.
  package var attributes: WhorlAttributes
  /// What is to guard the items; nil leaves it.
  package var accessControl: WhorlAccessControl?
  /// The new secret; nil leaves it.
  package var secret: Data?

  /// Reads changes.
  /// - Parameters:
  ///   - changes: the dictionary.
  ///   - itemClass: that of the search; nil where a reference alone says which item it is.
  /// - Throws: `errSecParam`, with the key, for what cannot be changed, and where there is nothing to change.
  package init(_ changes: CFDictionary, of itemClass: SecItemClass?) throws(ItemRequestError) {
    var reader = try QueryReader(changes, call: "SecItemUpdate")
    guard !reader.isEmpty else { throw ItemRequestError(errSecParam, "SecItemUpdate: there is nothing to change") }
    attributes = try reader.attributes(of: itemClass)
    // The search says that.
    attributes.itemClass = nil
    accessControl = try reader.newAccessControl()
    attributes.isSynchronizable = try ItemAddition.synchronizable(&reader)
    secret = try reader.data(kSecValueData)
    // Which key it is, is what the key is; another one is another item.
    if itemClass == .key {
      for (key, isGiven) in [
        (kSecAttrKeyClass, attributes.keyClass != nil), (kSecAttrKeySizeInBits, attributes.keySize != nil),
        (kSecAttrEffectiveKeySize, attributes.effectiveKeySize != nil), (kSecValueData, secret != nil),
      ] where isGiven {
        throw reader.refusal(key, "of a key cannot be changed")
      }
    }
    try reader.finish("\(itemClass?.subject ?? "an item") that is changed")
  }
}
