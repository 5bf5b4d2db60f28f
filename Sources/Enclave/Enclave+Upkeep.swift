public import Keychain
public import SecretMemory

/// What a look at a whole keychain found.
public struct KeychainReport: Sendable, Equatable {
  /// How many items there are.
  public var items = 0
  /// How many secrets were decrypted and are whole.
  public var whole = 0
  /// How many could not be looked at: locked, or with a password of a program's own.
  public var unread = 0
  /// How many lost their secret, as they should.
  public var lost = 0
  /// What is wrong, one line for people each; the first hundred.
  public var problems: [String] = []
  /// How many things are wrong.
  public var problemCount = 0
}

extension Enclave {
  private static let mostProblems = 100

  /// Looks at everything in a user's keychain, without a prompt: secrets are decrypted to see that they are whole, and go
  /// nowhere.
  /// - Throws: `.keychain` where it cannot be had at all; `.appCancel`.
  public func checkKeychain(of user: UserID) async throws(EnclaveError) -> KeychainReport {
    var report = KeychainReport()
    func note(_ lines: [String]) {
      report.problemCount += lines.count
      report.problems += lines.prefix(Self.mostProblems - report.problems.count)
    }
    note(try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.checkFile() })
    var last: ItemID?
    repeat {
      guard !Task.isCancelled else { throw .appCancel }
      let part = try withKeychain(of: user) { keychain throws(KeychainError) in
        try keychain.checkItems(after: last, count: Limits.searchRows)
      }
      report.items += part.rows
      report.whole += part.whole
      report.unread += part.unread
      report.lost += part.lost
      note(part.damaged.map(\.error.description))
      last = part.next
      if last != nil { await elsewhere.pause() }
    } while last != nil
    return report
  }

  /// Gives a user's keychain new keys and encrypts every secret anew; takes the passcode, which is checked and counted as
  /// in `providePasscode`. The recovery key ends.
  /// - Returns: how many secrets were encrypted anew.
  /// - Throws: as `providePasscode`; `.formerPasscodeNeeded`; `.keychain`, naming the first item that is damaged. Then
  ///   nothing was changed.
  public func rekey(
    _ context: ContextID, owner: ContextOwner, passcode: consuming SecretBytes
  ) async throws(EnclaveError) -> Int {
    let user = owner.user
    let held = HeldSecret(passcode)
    try await providePasscode(context, owner: owner, passcode: try held.clone())
    guard contexts[context]?.takeForItem(.passcode, at: clock.uptime()) == true else {
      throw .passcodeNeeded(.required)
    }
    guard pendingPasscodes[user] == nil else { throw .formerPasscodeNeeded }
    let stretched: StretchedPassword
    do {
      stretched = try await stretching.stretch(held, StretchingParameters(cost: stretchingCost))
    } catch {
      throw .keychain(error)
    }
    try requireContext(context, owner)
    let count: Int
    do { count = try shelf.rekey(user, passcode: stretched) } catch { throw .keychain(error) }
    do { try await allowRescueIfDue(of: user, by: held) } catch {
      // The next passcode makes up for it.
    }
    return count
  }
}
