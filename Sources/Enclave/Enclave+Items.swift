public import Keychain
public import SecretMemory

extension Enclave {
  /// Adds an item to a user's keychain; never prompts. On the disk when this returns.
  /// - Parameter context: the context that holds the program's own password, where the access control asks for one.
  /// - Throws: `.keychain`, also `.locked` for a class whose key is not there; `.biometryNotEnrolled` for an item bound to
  ///   the set of fingers while there is none, since nobody could read it before the first enrolment destroys it;
  ///   `.passcodeNotSet` for a class that needs a password that the account does not have.
  @discardableResult
  public func add(
    user: UserID, attributes: ItemAttributes, accessControl: AccessControl, secret: consuming SecretBytes,
    context: (id: ContextID, owner: ContextOwner)? = nil
  ) async throws(EnclaveError) -> ItemID {
    let attributes = try Self.completed(attributes, of: secret)
    let password: HeldSecret? =
      if let context { try requireContext(context.id, context.owner).applicationPassword } else { nil }
    try await requirePasscodeIfDue(accessControl.protection, of: user)
    let stretched = accessControl.needsApplicationPassword ? try await stretch(password, of: user) : nil
    let keychain: UserKeychain
    let members: [BiometrySetMember]
    let needsFingers = accessControl.isBoundToBiometrySet || accessControl.prefersBiometrySet
    do {
      keychain = try shelf.keychain(of: user)
      members = needsFingers ? try keychain.biometrySet() : []
    } catch {
      throw .keychain(error)
    }
    guard !needsFingers || !members.isEmpty else { throw .biometryNotEnrolled(.secret) }
    do {
      return try keychain.add(attributes, accessControl: accessControl, secret: secret, applicationPassword: stretched)
    } catch {
      throw .keychain(error)
    }
  }

  /// Throws where a class needs a password that the account does not have; what ended with one ends.
  func requirePasscodeIfDue(_ protection: ProtectionClass, of user: UserID) async throws(EnclaveError) {
    guard protection.needsPasscode else { return }
    let state = await passcodes.state(of: user)
    if state == .removed { await lookForPasscode(of: user) }
    let isNew = try withKeychain(of: user) { keychain throws(KeychainError) in
      try keychain.keybagState() == .unused
    }
    guard state.isWorthAsking || !(protection.endsWithPasscode || isNew) else { throw .passcodeNotSet }
  }

  /// The program's own password, after the work; with fresh parameters where none are given.
  private func stretch(
    _ password: HeldSecret?, _ parameters: StretchingParameters? = nil, of user: UserID
  ) async throws(EnclaveError) -> StretchedPassword {
    guard let password else { throw .keychain(.applicationPasswordNeeded) }
    guard programPasswords.insert(user).inserted else {
      throw .busy("another program's password of yours is being worked on; try again when that has ended")
    }
    defer { programPasswords.remove(user) }
    do {
      return try await stretching.stretch(password, parameters ?? StretchingParameters(cost: stretchingCost))
    } catch {
      throw .keychain(error)
    }
  }

  /// The secret of the first item that matches, once its constraints are satisfied in the context.
  /// - Parameter shown: the one item that is meant, as `find` gave it: `.denied` where it is not as it was then; nil: the
  ///   first that matches.
  /// - Throws: as `evaluate`; `.keychain(.itemNotFound)`, `.keychain(.invalidated)` before any prompt; `.denied` for a
  ///   private key, which never leaves.
  public func copySecret(
    _ context: ContextID, owner: ContextOwner, query: ItemQuery, shown: ItemSummary? = nil,
    options: VerificationOptions = VerificationOptions(), progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) -> SecretBytes {
    try await withItem(
      context, owner, query, shown, for: .secret, mustBeOnlyOne: false, options, progress
    ) { keychain, item, password throws(EnclaveError) in
      return try Self.keychain { () throws(KeychainError) in
        try keychain.secret(of: item.id, under: item.accessControl, applicationPassword: password)
      }
    }
  }

  /// Changes attributes, secret, access control or all of them of the one item that matches, once its constraints are
  /// satisfied in the context: also for attributes alone, since who can rename an item can have another's secret taken for
  /// it.
  /// - Parameters:
  ///   - shown: as for `copySecret`.
  ///   - changes: the attributes to set; nil ones stay.
  ///   - secret: the new secret; nil leaves it.
  ///   - accessControl: what guards it from then on; nil leaves it.
  /// - Throws: as `copySecret` and `add`; `.parameter` where several items match.
  public func update(
    _ context: ContextID, owner: ContextOwner, query: ItemQuery, shown: ItemSummary? = nil, changes: ItemQuery,
    secret: consuming SecretBytes? = nil, accessControl: AccessControl? = nil,
    options: VerificationOptions = VerificationOptions(), progress: @escaping ProgressHandler = { _ in }
  ) async throws(EnclaveError) {
    if let accessControl { try await requirePasscodeIfDue(accessControl.protection, of: owner.user) }
    let secret: HeldSecret? = if let secret { HeldSecret(secret) } else { nil }
    let newNeedsPassword = accessControl?.needsApplicationPassword == true
    try await withItem(
      context, owner, query, shown, for: .change(changes, hasSecret: secret != nil), mustBeOnlyOne: true,
      newNeedsPassword: newNeedsPassword, options, progress
    ) { keychain, item, password throws(EnclaveError) in
      let new: SecretBytes? = if let secret { try secret.clone() } else { nil }
      try Self.keychain { () throws(KeychainError) in
        try keychain.update(
          item.id, under: item.accessControl, changes: changes, secret: new, newAccessControl: accessControl,
          applicationPassword: password)
      }
    }
  }

  static func keychain<R: ~Copyable>(_ body: () throws(KeychainError) -> R) throws(EnclaveError) -> R {
    do { return try body() } catch { throw .keychain(error) }
  }

  /// Runs `use` on the item that is meant, once everything that guards it was shown in the context. Every use of a secret
  /// goes through here.
  /// - Parameters:
  ///   - shown: the item that the person was told of already; nil: the one that matches.
  ///   - purpose: what it is asked for; an item of another kind is refused before anybody is prompted.
  ///   - newNeedsPassword: the program's password is wanted also where the item has none yet.
  ///   - use: runs in the same stretch without `await` as the checks; takes the item as it is then, and the program's own
  ///     password for it.
  func withItem<R: ~Copyable>(
    _ context: ContextID, _ owner: ContextOwner, _ query: ItemQuery, _ shown: ItemSummary?, for purpose: ItemPurpose,
    mustBeOnlyOne: Bool, newNeedsPassword: Bool = false, _ options: VerificationOptions,
    _ progress: @escaping ProgressHandler,
    _ use: (UserKeychain, ItemSummary, StretchedPassword?) throws(EnclaveError) -> R
  ) async throws(EnclaveError) -> R {
    try requireContext(context, owner)
    let id = if let shown { shown.id } else { try await locate(query, of: owner.user, mustBeOnlyOne: mustBeOnlyOne) }
    var access = ItemAccess(context: context, owner: owner, query: query, item: id, promptedFor: shown)
    do throws(EnclaveError) {
      let located = try item(for: access)
      let parameters = try withKeychain(of: owner.user) { keychain throws(KeychainError) in
        try keychain.applicationPasswordParameters(of: id)
      }
      try purpose.check(located.attributes)
      let protection = located.accessControl.protection
      if protection.endsWithPasscode { await lookForPasscode(of: owner.user) }
      var password: StretchedPassword?
      if parameters != nil || newNeedsPassword {
        password = try await stretch(try requireContext(context, owner).applicationPassword, parameters, of: owner.user)
      }
      while true {
        // No await between the two: what `redeem` found holds while the secret is decrypted.
        if let item = try redeem(&access) {
          let keychain: UserKeychain
          do { keychain = try shelf.keychain(of: owner.user) } catch { throw .keychain(error) }
          try purpose.check(item.attributes)
          let result = try use(keychain, item, password)
          note(owner, purpose.deed, item, nil)
          return result
        }
        access.touch = try await ask(context, owner, access.need, options, progress, isLocked: access.isLocked)
      }
    } catch {
      // A request that said that it must not prompt, and would have to, was none to be let happen.
      if error != .notInteractive || options.allowsInteraction {
        note(owner, purpose.deed, access.promptedFor, error)
      }
      throw error
    }
  }

  /// Looks at everything afresh, without any await: the context, the caller, the item, and what was shown for it.
  /// - Returns: the item, for use at once (a ticket of the context is used up by that); nil where something must be
  ///   asked for first.
  private func redeem(_ access: inout ItemAccess) throws(EnclaveError) -> ItemSummary? {
    try requireContext(access.context, access.owner)
    guard !Task.isCancelled else { throw .appCancel }
    let item = try item(for: access)
    access.promptedFor = item
    let touch = access.touch
    access.touch = nil
    if let touch { try requireForSecrets(touch, of: access.owner.user) }
    access.isLocked = false
    if let need = try needToUnlock(item.accessControl.protection, of: access.owner.user) {
      (access.need, access.isLocked) = (need, true)
      return nil
    }
    guard let need = try need(of: item, user: access.owner.user) else { return item }
    access.need = need
    let now = clock.uptime()
    if touch != nil {
      switch need {
      case .presence, .biometry: return item
      case .both: return contexts[access.context]?.takeForItem(.passcode, at: now) == true ? item : nil
      case .passcode: break
      }
    }
    let isTaken = contexts[access.context]?.takeForItem(need, at: now) ?? false
    return isTaken ? item : nil
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
      throw other == nil ? .keychain(.itemNotFound) : Self.changed
    }
    if let error = item.state.error { throw .keychain(error) }
    // The person was asked for that item, as it was called and guarded then, not for what became of it.
    if let shown = access.promptedFor {
      guard shown.accessControl == item.accessControl, shown.attributes == item.attributes else { throw Self.changed }
    }
    return item
  }

  private static var changed: EnclaveError {
    .denied("the item was changed or replaced while you were asked for it; ask again")
  }

  /// What an item needs a person to show; nil for nothing.
  func need(of item: ItemSummary, user: UserID) throws(EnclaveError) -> AuthenticationContext.Need? {
    let control = item.accessControl
    let takesFinger = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.takesFinger(item) }
    return Self.need(of: control.personal, control.combination, takesFinger: takesFinger)
  }

  /// What constraints of a person come to.
  /// - Parameter takesFinger: whether a finger counts for "the current set" among several.
  static func need(
    of constraints: [Constraint], _ combination: AccessControl.Combination, takesFinger: Bool = true
  ) -> AuthenticationContext.Need? {
    guard !constraints.isEmpty else { return nil }
    let isFinger = constraints.contains(.biometryAny) || constraints.contains(.biometryCurrentSet) && takesFinger
    let isPasscode = constraints.contains(.devicePasscode)
    let isEither = constraints.contains(.userPresence)
    guard combination == .or, constraints.count > 1 else {
      // All of them: presence is there with either of the others.
      if constraints.contains(where: { $0 == .biometryAny || $0 == .biometryCurrentSet }) {
        return isPasscode ? .both : .biometry
      }
      return isPasscode ? .passcode : .presence
    }
    switch (isFinger || isEither, isPasscode || isEither) {
    case (true, true): return .presence
    case (true, false): return .biometry
    // Where the set changed and nothing else was named, a finger is asked for and the item itself refuses.
    case (false, let passcode): return passcode ? .passcode : .biometry
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
  /// Whether the need is that of the protection class, before the item's own.
  var isLocked = false
  /// A touch made for this request; used once.
  var touch: Touch?

  init(context: ContextID, owner: ContextOwner, query: ItemQuery, item: ItemID, promptedFor: ItemSummary?) {
    self.promptedFor = promptedFor
    self.context = context
    self.owner = owner
    self.query = query
    self.item = item
  }
}
