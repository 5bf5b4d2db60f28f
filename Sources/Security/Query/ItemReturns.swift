package import WhorlClient

/// What a call returns of each item (`kSecReturn…`).
package struct ItemReturns: Hashable, Sendable {
  /// The secret: for a guarded item the user is asked.
  package var data: Bool
  /// The attributes.
  package var attributes: Bool
  /// A reference: a key.
  package var reference: Bool
  /// A persistent reference.
  package var persistentReference: Bool

  /// Those.
  package init(
    data: Bool = false, attributes: Bool = false, reference: Bool = false, persistentReference: Bool = false
  ) {
    self.data = data
    self.attributes = attributes
    self.reference = reference
    self.persistentReference = persistentReference
  }

  /// Whether nothing is returned but whether there is such an item.
  package var isNothing: Bool { self == ItemReturns() }

  /// What is returned of one item: the one thing that was asked for, or a dictionary of several; nil where nothing was.
  /// - Parameters:
  ///   - item: the item.
  ///   - secret: its secret, where that was asked for and may be had.
  ///   - key: the reference to it, where that was asked for and it is a key.
  package func result(for item: WhorlItem, secret: Data? = nil, key: AnyObject? = nil) -> Any? {
    let persistent = item.attributes.persistentReference.map { Data($0) }
    switch (data, attributes, reference, persistentReference) {
    case (false, false, false, false): return nil
    case (true, false, false, false): return secret
    case (false, true, false, false): return item.attributeDictionary
    case (false, false, true, false): return key
    case (false, false, false, true): return persistent
    default:
      var result = attributes ? item.attributeDictionary : [:]
      if data { result[kSecValueData] = secret }
      if reference { result[kSecValueRef] = key }
      if persistentReference { result[kSecValuePersistentRef] = persistent }
      return result
    }
  }
}
