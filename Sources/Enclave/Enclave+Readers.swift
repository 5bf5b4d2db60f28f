public import Keychain

/// Readers that are trusted with a user's secrets. Whoever answers "match" has to be one of them, and the print one that
/// was registered: a look-alike that is plugged in opens nothing.
extension Enclave {
  /// The readers that a user trusts with his secrets, in the order in which he did.
  /// - Throws: `.keychain`.
  public func trustedReaders(of user: UserID) throws(EnclaveError) -> [TrustedReader] {
    try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.trustedReaders() }
  }

  /// Whether a match on the reader at this place may release the user's secrets; also false where that cannot be found
  /// out.
  public func isTrusted(_ place: ReaderPlace, user: UserID) -> Bool {
    let isTrusted = try? withKeychain(of: user) { keychain throws(KeychainError) in try keychain.isTrusted(place) }
    return isTrusted ?? false
  }

  /// Trusts a reader with the caller's secrets from now on.
  /// - Parameters:
  ///   - context: one that was given the passcode; that is used up where its reuse time is 0.
  ///   - name: the reader's product name, for people.
  /// - Throws: `.invalidContext`; `.passcodeNeeded` or what stands in its way where the context has not seen the
  ///   passcode; `.keychain`.
  public func trust(
    _ context: ContextID, owner: ContextOwner, place: ReaderPlace, name: String
  ) async throws(EnclaveError) {
    try await requirePasscode(in: context, owner)
    try withKeychain(of: owner.user) { keychain throws(KeychainError) in
      try keychain.trust([(place: place, name: Self.bounded(name))])
    }
  }

  /// Trusts a reader no more. Needs no passcode: it opens nothing.
  /// - Returns: whether it was trusted.
  /// - Throws: `.keychain`.
  public func distrust(_ place: ReaderPlace, user: UserID) throws(EnclaveError) -> Bool {
    // What was touched there may be remembered.
    forgetTouches(of: user)
    return try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.distrust(place) }
  }

  /// Trusts no reader any more, also where the list of them was tampered with.
  /// - Throws: `.keychain`.
  public func distrustAll(user: UserID) throws(EnclaveError) {
    forgetTouches(of: user)
    try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.distrustAll() }
  }

  // MARK: - What a touch is worth

  /// Refuses a touch that may not release the user's secrets. To be asked in the same stretch without `await` that does.
  func requireForSecrets(_ touch: Touch, of user: UserID) throws(EnclaveError) {
    let (isRegistered, isTrusted) = try withKeychain(of: user) { keychain throws(KeychainError) in
      (
        try keychain.isRegistered(print: touch.print) != nil,
        try touch.place.map { place throws(KeychainError) in try keychain.isTrusted(place) } ?? false
      )
    }
    guard isRegistered else {
      throw .denied(
        "the print of \(touch.finger) opens logins but no secrets, for your password was not given for it; give it "
          + "with: whorl adopt")
    }
    guard isTrusted else { throw .denied(Self.untrusted("the reader")) }
  }

  /// Refuses where no touch on any reader could count.
  func requireTrustedReader(_ user: UserID) throws(EnclaveError) {
    guard try trustedReaders(of: user).isEmpty else { return }
    throw .biometryNotAvailable(Self.untrusted("no reader", isTrusted: "is trusted"))
  }

  /// What to say of a reader that is not trusted, and what to do.
  public static func untrusted(_ reader: String, isTrusted: String = "is not trusted") -> String {
    let which = reader == "no reader" ? "one" : "it"
    return "\(reader) \(isTrusted) with your secrets yet; approve \(which) with: whorl reader trust"
  }

  /// Takes the passcode that a context was given.
  /// - Parameter mustBeUnlocked: whether it has to open the keychain, so that a former one may be wanted.
  func requirePasscode(
    in context: ContextID, _ owner: ContextOwner, mustBeUnlocked: Bool = false
  ) async throws(EnclaveError) {
    let given = try requireContext(context, owner)
    // What was given is kept for the moment that the former one takes.
    if given.hasPasscode(at: clock.uptime()), mustBeUnlocked, pendingPasscodes[owner.user] != nil {
      throw .formerPasscodeNeeded
    }
    guard contexts[context]?.takePasscodeForKeys(at: clock.uptime()) == true else {
      throw await passcodeWanted(of: owner.user, .required)
    }
    guard !Task.isCancelled else { throw .appCancel }
  }

  /// A reader's name as long as it may be stored; the rest of it is nobody's loss.
  static func bounded(_ name: String) -> String {
    var bounded = name
    while bounded.utf8.count > 256 { bounded.removeLast() }
    return bounded
  }
}
