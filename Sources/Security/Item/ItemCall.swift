internal import SecretMemory
internal import WhorlClient

/// One call of a SecItem function, at the enclave that its context belongs to, or the process's.
struct ItemCall {
  private let transport: any BlockingTransport
  private let prompting: ItemPrompting

  init(_ prompting: ItemPrompting, transport: (any BlockingTransport)? = nil) {
    self.prompting = prompting
    self.transport = prompting.context?.transport ?? transport ?? WhorlEnclave.transport
  }

  // MARK: Searching

  func copyMatching(_ search: ItemSearch) throws(ItemRequestError) -> [Any] {
    var values: [Any] = []
    var found = false
    var finder = try ItemFinder(search, transport)
    while let item = try finder.next() {
      var secret: Data?
      if search.returns.data {
        guard item.attributes.keyHalf != .enclave else { throw .neverLeaves }
        do throws(WhorlError) {
          secret = try self.secret(of: item)
        } catch {
          if search.prompting.interface == .skip, error.needsPerson { continue }
          throw ItemRequestError(error)
        }
      }
      found = true
      let key = try reference(to: item, search.returns)
      if let value = search.returns.result(for: item, secret: secret, key: key) { values.append(value) }
      finder.taken()
    }
    guard found else { throw ItemRequestError(errSecItemNotFound, "there is no such item") }
    return values
  }

  /// The key that an item is, where it is one and that is asked for. Asks nobody: the key does where it is used.
  private func reference(to item: WhorlItem, _ returns: ItemReturns) throws(ItemRequestError) -> SecKey? {
    guard returns.reference, item.attributes.itemClass == SecItemClass.key.enclaveName else { return nil }
    return try SecKey(item, transport: transport, prompting: prompting)
  }

  private func secret(of item: WhorlItem) throws(WhorlError) -> Data {
    let query = WhorlAttributes(reference: item)
    return try prompting.withContext(transport) { (context) throws(WhorlError) in
      let secret = try transport.secret(matching: query, in: context, prompt: prompting.prompt, token: nil)
      return secret.withUnsafeBytes { Data($0) }
    }
  }

  // MARK: Changing

  func add(_ request: ItemAddition) throws(ItemRequestError) -> Any? {
    var request = request
    let key = try request.takeKey()
    let secret =
      switch consume key {
      case .some(let key): key.form
      case .none: try SecretBytes.request(request.secret ?? Data())
      }
    try enclave { () throws(WhorlError) in
      do throws(WhorlError) {
        try store(request, secret)
      } catch  where error.code == .duplicateItem {
        // One that has lost its secret for good is not found by any search: it must not be in the way for ever.
        guard try removeLost(request.attributes) else { throw error }
        try store(request, secret)
      }
    }
    guard !request.returns.isNothing else { return nil }
    guard let item = try enclave({ () throws(WhorlError) in try stored(request.attributes, includingLost: false) })
    else { throw ItemRequestError(errSecItemNotFound, "the item was deleted at once by another program") }
    let data = request.returns.data ? secret.withUnsafeBytes { Data($0) } : nil
    return request.returns.result(for: item, secret: data, key: try reference(to: item, request.returns))
  }

  private func store(_ request: ItemAddition, _ secret: borrowing SecretBytes) throws(WhorlError) {
    guard request.accessControl.constraints.contains(.applicationPassword), let source = prompting.context else {
      return try transport.add(
        request.attributes, accessControl: request.accessControl, context: nil, secret: secret)
    }
    try source.withEnclaveContext { (context) throws(WhorlError) in
      try transport.add(
        request.attributes, accessControl: request.accessControl, context: context, secret: secret)
    }
  }

  /// The item of these attributes that cannot be there twice.
  private func stored(_ attributes: WhorlAttributes, includingLost: Bool) throws(WhorlError) -> WhorlItem? {
    let identity = attributes.identity
    return try transport.items(
      matching: identity, limit: 0, includingInvalidated: includingLost, after: nil
    ).first { $0.attributes.identity == identity }
  }

  /// Deletes the item that is in the way of this one, where it has lost its secret; false where it has not.
  private func removeLost(_ attributes: WhorlAttributes) throws(WhorlError) -> Bool {
    guard let item = try stored(attributes, includingLost: true), item.isInvalidated || item.isPasscodeRemoved else {
      return false
    }
    return try transport.delete(matching: WhorlAttributes(reference: item), all: false) > 0
  }

  func update(_ search: ItemSearch, _ change: ItemChange) throws(ItemRequestError) {
    let items = try all(search)
    for item in items where item.attributes.keyHalf != nil {
      // Which key it is, is what the key is; another one is another item.
      for (name, isGiven) in [
        (kSecValueData, change.secret != nil), (kSecAttrApplicationLabel, change.attributes.applicationLabel != nil),
      ] where isGiven {
        throw ItemRequestError(errSecParam, "SecItemUpdate: \(QueryReader.shown(name)) of a key cannot be changed")
      }
    }
    guard let data = change.secret else {
      return try eachAllowed(of: items, search) { (query, context) throws(WhorlError) in
        try transport.update(
          matching: query, changes: change.attributes, accessControl: change.accessControl, in: context,
          prompt: prompting.prompt, token: nil)
      }
    }
    let secret = try SecretBytes.request(data)
    try eachAllowed(of: items, search) { (query, context) throws(WhorlError) in
      try transport.update(
        matching: query, changes: change.attributes, accessControl: change.accessControl, secret: secret, in: context,
        prompt: prompting.prompt, token: nil)
    }
  }

  /// Runs `body` for each item, in a context; passes over those for which a person would have to be asked, where the query
  /// says so.
  private func eachAllowed(
    of items: [WhorlItem], _ search: ItemSearch,
    _ body: (WhorlAttributes, WhorlContext) throws(WhorlError) -> Void
  ) throws(ItemRequestError) {
    for item in items {
      do throws(WhorlError) {
        try prompting.withContext(transport) { (context) throws(WhorlError) in
          try body(WhorlAttributes(reference: item), context)
        }
      } catch {
        if search.prompting.interface == .skip, error.needsPerson { continue }
        throw ItemRequestError(error)
      }
    }
  }

  func delete(_ search: ItemSearch) throws(ItemRequestError) {
    for item in try all(search, includingLost: true) {
      try enclave { () throws(WhorlError) in
        do throws(WhorlError) {
          _ = try transport.delete(matching: WhorlAttributes(reference: item), all: false)
        } catch  where error.code == .itemNotFound {
          // Somebody else was faster.
        }
      }
    }
  }

  /// What matches, at least one.
  private func all(_ search: ItemSearch, includingLost: Bool = false) throws(ItemRequestError) -> [WhorlItem] {
    var items: [WhorlItem] = []
    var finder = try ItemFinder(search, transport, includingLost: includingLost)
    while let item = try finder.next() {
      items.append(item)
      finder.taken()
    }
    guard !items.isEmpty else { throw ItemRequestError(errSecItemNotFound, "there is no such item") }
    return items
  }

  // MARK: Errors

  private func enclave<R: ~Copyable>(_ body: () throws(WhorlError) -> R) throws(ItemRequestError) -> R {
    do throws(WhorlError) { return try body() } catch { throw ItemRequestError(error) }
  }
}

extension WhorlError {
  /// A person would have to be asked, and must not be, or cannot.
  fileprivate var needsPerson: Bool {
    switch code {
    case .notInteractive, .passcodeNeeded, .formerPasscodeNeeded, .locked: true
    default: false
    }
  }
}

extension WhorlAttributes {
  /// That one item and no other.
  init(reference item: WhorlItem) {
    self.init()
    persistentReference = item.attributes.persistentReference
  }

  /// Those of which no two items of the class have all the same, by the enclave's rules (Keychain, ItemClass).
  var identity: WhorlAttributes {
    var identity = WhorlAttributes(itemClass: itemClass)
    identity.accessGroup = accessGroup
    switch itemClass {
    case "generic-password":
      (identity.service, identity.account) = (service ?? "", account ?? "")
    case "internet-password":
      identity.account = account ?? ""
      (identity.securityDomain, identity.server, identity.path) = (securityDomain, server, path)
      (identity.protocolType, identity.authenticationType, identity.port) = (protocolType, authenticationType, port)
    default:
      (identity.keyClass, identity.keyType) = (keyClass, keyType)
      (identity.applicationLabel, identity.applicationTag) = (applicationLabel, applicationTag)
      (identity.keySize, identity.effectiveKeySize) = (keySize, effectiveKeySize)
    }
    return identity
  }
}
