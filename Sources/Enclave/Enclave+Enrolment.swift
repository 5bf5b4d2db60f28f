public import Keychain

/// A print on the disk that is to be registered, so that it may release secrets.
public struct StoredFinger: Sendable, Hashable {
  /// 1 (left thumb) to 10 (right little).
  public let finger: UInt8
  /// The reader, as `driver/device-id`.
  public let reader: String
  /// The reader's product name, for people.
  public let readerName: String
  /// Where that reader stands; nil where it is not known.
  public let place: ReaderPlace?
  /// The print's bytes as on the disk.
  public let print: [UInt8]

  /// A print with these values.
  public init(finger: UInt8, reader: String, readerName: String, place: ReaderPlace?, print: [UInt8]) {
    self.finger = finger
    self.reader = reader
    self.readerName = readerName
    self.place = place
    self.print = print
  }
}

/// What ``Enclave/register(_:owner:fingers:)`` did.
public struct Registration: Sendable, Hashable {
  /// Those that were registered; what was registered before is not among them.
  public let fingers: [StoredFinger]
  /// The readers that are trusted since then because of it.
  public let trusted: [ReaderPlace]
}

/// Which prints may release secrets. A print gets on the disk by an enrolment, which polkit allows, perhaps because of a
/// finger; it is registered only with the passcode.
extension Enclave {
  /// A finger was enrolled, and nobody gave the passcode for that: its print opens logins, and no secret.
  ///
  /// To be called once the print is on the disk. Where it replaced one that was registered, that one is deleted with all
  /// that ``deleted(user:finger:reader:)`` says; otherwise the set of registered fingers stays as it is, and so do the
  /// items that are bound to it.
  /// - Parameters:
  ///   - finger: 1 (left thumb) to 10 (right little).
  ///   - reader: the reader, as `driver/device-id`.
  /// - Throws: `.keychain`; the old print should then be put back.
  public func stored(user: UserID, finger: UInt8, reader: String) throws(EnclaveError) {
    try deleted(user: user, finger: finger, reader: reader)
  }

  /// Registers fingers of the caller's, and trusts the readers that they are enrolled on where there is no doubt which
  /// those are: the only one of its kind here, and no other of that kind is trusted yet. Items bound to the set of
  /// fingers lose their secrets for good where one is registered that was not before.
  /// - Parameters:
  ///   - context: one that was given the passcode; that is used up where its reuse time is 0.
  ///   - fingers: prints that are on the disk, each with the reader that would match it.
  /// - Throws: `.invalidContext`; `.passcodeNeeded` or what stands in its way where the context has not seen the
  ///   passcode; `.keychain`. Some may be registered then.
  public func register(
    _ context: ContextID, owner: ContextOwner, fingers: [StoredFinger]
  ) async throws(EnclaveError) -> Registration {
    try await requirePasscode(in: context, owner)
    return try register(fingers, of: owner.user)
  }

  /// What ``register(_:owner:fingers:)`` does once the passcode was seen: nobody else is to call it.
  func register(_ fingers: [StoredFinger], of user: UserID) throws(EnclaveError) -> Registration {
    let new = try withKeychain(of: user) { keychain throws(KeychainError) in
      var new: [StoredFinger] = []
      for finger in fingers where try keychain.isRegistered(print: finger.print) == nil { new.append(finger) }
      return new
    }
    guard !new.isEmpty else { return Registration(fingers: [], trusted: []) }
    forgetTouches(of: user)
    try withKeychain(of: user) { keychain throws(KeychainError) in
      // Two readers alike share their prints.
      for finger in new where try keychain.isRegistered(print: finger.print) == nil {
        try keychain.recordEnrolment(finger: finger.finger, reader: finger.reader, print: finger.print)
      }
    }
    return Registration(fingers: new, trusted: try trustReaders(of: new, user))
  }

  private func trustReaders(of fingers: [StoredFinger], _ user: UserID) throws(EnclaveError) -> [ReaderPlace] {
    var names: [ReaderPlace: String] = [:]
    for finger in fingers { if let place = finger.place { names[place] = finger.readerName } }
    return try withKeychain(of: user) { keychain throws(KeychainError) in
      let trusted = try keychain.trustedReaders().map(\.place)
      let chosen = names.keys.filter { place in
        !trusted.contains { $0.isKind(of: place) } && names.keys.count { $0.isKind(of: place) } == 1
      }
      try keychain.trust(chosen.map { (place: $0, name: Self.bounded(names[$0] ?? "")) })
      return Array(chosen)
    }
  }

  /// A finger is being deleted. Where it was registered, items bound to the set of fingers lose their secrets for good.
  ///
  /// To be called before the print leaves the disk; where this fails the print should stay, so that nobody believes the
  /// finger gone from the set.
  /// - Returns: whether the finger was registered.
  @discardableResult
  public func deleted(user: UserID, finger: UInt8, reader: String) throws(EnclaveError) -> Bool {
    let wasThere = try withKeychain(of: user) { keychain throws(KeychainError) in
      try keychain.recordDeletion(finger: finger, reader: reader)
    }
    forgetTouches(of: user)
    return wasThere
  }

  /// Whether a print may release the user's secrets; also false where that cannot be found out.
  public func isRegistered(_ print: [UInt8], user: UserID) -> Bool {
    let member = try? withKeychain(of: user) { keychain throws(KeychainError) in
      try keychain.isRegistered(print: print)
    }
    return member != nil
  }
}
