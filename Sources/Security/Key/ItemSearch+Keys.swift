internal import KeyPairs
internal import WhorlClient

extension ItemSearch {
  /// What the enclave is asked for: the class of a key is not always the enclave's role, and `kSecValueRef` is an item of
  /// its own or a description. Nil where nothing can match.
  func enclaveQuery() throws(ItemRequestError) -> WhorlAttributes? {
    var query = attributes
    if isInEnclave == true {
      guard query.keyClass ?? "private" == "private" else { return nil }
      query.keyClass = KeyHalf.enclave.role
    } else if query.keyClass != "public" {
      // Private keys have one of two roles; ``accepts(keyOf:)`` sees which one an item has.
      query.keyClass = nil
    }
    guard let reference else { return query }
    guard let key = reference as? SecKey else { throw ItemRequestError(errSecInvalidItemRef, "this is no SecKey") }
    let label = try keyPair { () throws(KeyPairError) in try key.publicKey.applicationLabel() }
    guard query.applicationLabel ?? label == label, query.keyType ?? key.publicKey.type.name == key.publicKey.type.name
    else { return nil }
    query.itemClass = SecItemClass.key.enclaveName
    query.applicationLabel = label
    query.keyType = key.publicKey.type.name
    if let named = key.item?.attributes.persistentReference {
      guard query.persistentReference ?? named == named else { return nil }
      query.persistentReference = named
    } else if query.accessGroup == nil {
      // Another group's is not meant.
      query.accessGroup = key.attributes.accessGroup ?? AccessGroup.own
    }
    return query
  }

  /// Whether an item is the half of a key that is looked for.
  func accepts(keyOf item: WhorlItem) -> Bool {
    if let wanted = attributes.keyClass, item.attributes.knownKeyClass != wanted { return false }
    if let key = reference as? SecKey {
      return item.attributes.knownKeyClass == (key.isPrivate ? "private" : "public")
    }
    return true
  }
}
