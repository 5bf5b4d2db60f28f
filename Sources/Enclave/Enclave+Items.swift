public import Keychain
public import SecretMemory

extension Enclave {
  /// Adds an item to a user's keychain; never prompts. On the disk when this returns.
  /// - Throws: `.keychain`; `.biometryNotEnrolled` for an item bound to the set of fingers while there is none, since
  ///   nobody could read it before the first enrolment destroys it.
  @discardableResult
  public func add(
    user: UserID, attributes: ItemAttributes, accessControl: AccessControl, secret: consuming SecretBytes
  ) throws(EnclaveError) -> ItemID {
    let keychain: UserKeychain
    let members: [BiometrySetMember]
    do {
      keychain = try shelf.keychain(of: user)
      members = accessControl.isBoundToBiometrySet ? try keychain.biometrySet() : []
    } catch {
      throw .keychain(error)
    }
    guard !accessControl.isBoundToBiometrySet || !members.isEmpty else { throw .biometryNotEnrolled(.secret) }
    do {
      return try keychain.add(attributes, accessControl: accessControl, secret: secret)
    } catch {
      throw .keychain(error)
    }
  }

  /// The attributes of the items that match, in the order they were added; never prompts, and needs no reader.
  /// - Parameters:
  ///   - limit: the most items; 0 for all.
  ///   - includeInvalidated: also those whose fingers changed.
  public func copyMatching(
    user: UserID, query: ItemQuery, limit: Int = 0, includeInvalidated: Bool = false
  ) async throws(EnclaveError) -> [ItemSummary] {
    var found: [ItemSummary] = []
    try await search(user, query, includeInvalidated: includeInvalidated) { page throws(EnclaveError) in
      if let first = page.damaged.first { throw .keychain(first.error) }
      found += page.items
      return limit == 0 || found.count < limit
    }
    return limit == 0 ? found : Array(found.prefix(limit))
  }

  /// Goes through the items that match, page by page, until `body` gives false. In between others have their turn at the
  /// enclave: one user's thousands of items hold nobody up.
  private func search(
    _ user: UserID, _ query: ItemQuery, includeInvalidated: Bool,
    _ body: (ItemPage) throws(EnclaveError) -> Bool
  ) async throws(EnclaveError) {
    var last: ItemID?
    repeat {
      guard !Task.isCancelled else { throw .appCancel }
      let page = try withKeychain(of: user) { keychain throws(KeychainError) in
        try keychain.page(query, after: last, count: Limits.searchRows, includeInvalidated: includeInvalidated)
      }
      guard try body(page) else { return }
      last = page.next
      if last != nil { await elsewhere.pause() }
    } while last != nil
  }

  /// Deletes the items that match; never prompts.
  /// - Parameter all: must be true for a query that names neither service nor account.
  /// - Returns: how many there were, at least 1.
  /// - Throws: `.keychain(.itemNotFound)` where none matched.
  public func delete(user: UserID, query: ItemQuery, all: Bool = false) throws(EnclaveError) -> Int {
    let count = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.delete(query, all: all) }
    guard count > 0 else { throw .keychain(.itemNotFound) }
    return count
  }

  /// The secret of the first item that matches, once its constraints are satisfied in the context.
  /// - Throws: as `evaluate`; `.keychain(.itemNotFound)`, `.keychain(.invalidated)` before any prompt.
  public func copySecret(
    _ context: ContextID, owner: ContextOwner, query: ItemQuery, options: VerificationOptions = VerificationOptions(),
    progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> SecretBytes {
    try requireContext(context, owner)
    var access = ItemAccess(
      context: context, owner: owner, query: query, item: try await locate(query, of: owner.user, mustBeOnlyOne: false))
    while true {
      // No await between the two: what `redeem` found holds while the secret is decrypted.
      if let item = try redeem(&access) {
        return try withKeychain(of: owner.user) { keychain throws(KeychainError) in
          try keychain.secret(of: item.id, under: item.accessControl)
        }
      }
      access.touch = try await ask(context, owner, access.need, options, progress)
    }
  }

  /// Changes attributes, secret or both of the one item that matches, once its constraints are satisfied in the
  /// context: also for attributes alone, since who can rename an item can have another's secret taken for it.
  /// - Parameters:
  ///   - changes: the attributes to set; nil ones stay.
  ///   - secret: the new secret; nil leaves it.
  /// - Throws: as `copySecret`; `.parameter` where several items match.
  public func update(
    _ context: ContextID, owner: ContextOwner, query: ItemQuery, changes: ItemQuery,
    secret: consuming SecretBytes? = nil, options: VerificationOptions = VerificationOptions(),
    progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) {
    try requireContext(context, owner)
    var access = ItemAccess(
      context: context, owner: owner, query: query, item: try await locate(query, of: owner.user, mustBeOnlyOne: true))
    while true {
      if let item = try redeem(&access) {
        do {
          return try shelf.keychain(of: owner.user)
            .update(item.id, under: item.accessControl, changes: changes, secret: secret)
        } catch {
          throw .keychain(error)
        }
      }
      access.touch = try await ask(context, owner, access.need, options, progress)
    }
  }

  /// Looks at everything afresh, without any await: the context, the caller, the item, and what was shown for it.
  /// - Returns: the item, for use at once (a ticket of the context is used up by that); nil where something must be
  ///   asked for first.
  private func redeem(_ access: inout ItemAccess) throws(EnclaveError) -> ItemSummary? {
    try requireContext(access.context, access.owner)
    guard !Task.isCancelled else { throw .appCancel }
    let item = try item(for: access)
    if let promptedFor = access.promptedFor {
      // The person touched the reader for that item, not for one that took its place meanwhile.
      guard promptedFor.id == item.id, promptedFor.accessControl == item.accessControl else {
        throw .denied("the item was replaced while you were asked for your finger; ask again")
      }
    }
    access.promptedFor = item
    guard let need = try Self.need(of: item.accessControl) else { return item }
    access.need = need
    if let touch = access.touch {
      access.touch = nil
      guard need.takesBiometry else { throw .denied("a finger does not open this item; ask again") }
      try requireForSecrets(touch, of: access.owner.user)
      return item
    }
    let isTaken = contexts[access.context]?.takeForItem(need, at: clock.uptime()) ?? false
    return isTaken ? item : nil
  }

  /// The item that is meant: the first that has its secret.
  private func locate(
    _ query: ItemQuery, of user: UserID, mustBeOnlyOne: Bool
  ) async throws(EnclaveError) -> ItemID {
    var present: ItemID?
    var lost: ItemSummary?
    var count = 0
    var damaged: DamagedItem?
    try await search(user, query, includeInvalidated: true) { page throws(EnclaveError) in
      damaged = damaged ?? page.damaged.first
      for item in page.items {
        guard item.state == .present else {
          lost = lost ?? item
          continue
        }
        present = present ?? item.id
        count += 1
      }
      return damaged == nil && (present == nil || mustBeOnlyOne)
    }
    if let damaged { throw .keychain(damaged.error) }
    guard let present else {
      guard case .invalidated(let at)? = lost?.state else { throw .keychain(.itemNotFound) }
      throw .keychain(.invalidated(at: at))
    }
    guard !mustBeOnlyOne || count == 1 else {
      throw .parameter("\(count) items match; name service and account of the one to change")
    }
    return present
  }

  /// The item that was located, as it is now.
  private func item(for access: ItemAccess) throws(EnclaveError) -> ItemSummary {
    let item: ItemSummary
    do throws(EnclaveError) {
      item = try withKeychain(of: access.owner.user) { keychain throws(KeychainError) in
        try keychain.summary(of: access.item)
      }
      guard access.query.matches(item.attributes) else { throw .keychain(.itemNotFound) }
    } catch .keychain(.itemNotFound) where access.promptedFor != nil {
      let other = try withKeychain(of: access.owner.user) { keychain throws(KeychainError) in
        try keychain.page(access.query, count: Limits.searchRows).items.first
      }
      // The person touched the reader for that item, not for one that took its place meanwhile.
      throw other == nil
        ? .keychain(.itemNotFound) : .denied("the item was replaced while you were asked for your finger; ask again")
    }
    if case .invalidated(let at) = item.state { throw .keychain(.invalidated(at: at)) }
    return item
  }

  /// What an access control needs; nil for nothing. An access control that cannot be kept is refused.
  private static func need(of control: AccessControl) throws(EnclaveError) -> AuthenticationContext.Need? {
    guard control.protection == .always else {
      throw .keychain(.unsupported("the protection class \(control.protection.name)"))
    }
    guard let constraint = control.constraints.first else { return nil }
    guard control.constraints.count == 1 else { throw .keychain(.unsupported("more than one constraint on an item")) }
    switch constraint {
    case .userPresence: return .presence
    case .biometryAny, .biometryCurrentSet: return .biometry
    case .devicePasscode: return .passcode
    case .applicationPassword, .privateKeyUsage:
      throw .keychain(.unsupported("the constraint \(constraint.rawValue)"))
    }
  }
}

/// One request for an item, on its way through prompts.
private struct ItemAccess {
  let context: ContextID
  let owner: ContextOwner
  let query: ItemQuery
  let item: ItemID
  var promptedFor: ItemSummary?
  var need = AuthenticationContext.Need.passcode
  /// A touch made for this request; used once.
  var touch: Touch?

  init(context: ContextID, owner: ContextOwner, query: ItemQuery, item: ItemID) {
    self.context = context
    self.owner = owner
    self.query = query
    self.item = item
  }
}
