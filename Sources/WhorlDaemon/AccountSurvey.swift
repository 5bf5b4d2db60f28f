internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore

/// What `GetAccountStatus` tells root about another account: what a command that acts for it has to say beforehand, and
/// nothing that opens anything or names a secret.
@GLibActor
struct AccountSurvey {
  let removal: AccountRemoval

  /// The keys that data/dbus/org.whorl.Authentication1.xml lists.
  /// - Throws: `Denied` where the caller is not root; `NoSuchUser` where there is neither an account nor anything kept.
  func values(of name: String, uid: UInt32?, _ caller: Caller) async throws -> [String: BusValue] {
    guard caller.user.rawValue == 0 else {
      throw BusMethodError.whorl("Denied", "Only root is told about other accounts.")
    }
    guard (uid == nil) != name.isEmpty else {
      throw BusMethodError.whorl("Param", "GetAccountStatus takes a name, or an empty one and the option \"uid\".")
    }
    guard try await removal.knows(name, uid: uid, caller) else {
      let what = uid.map { "uid \($0)" } ?? "an account of that name"
      throw BusMethodError.whorl(
        "NoSuchUser", "Nothing is kept for \(what), and there is no such account; check the name or the uid.")
    }
    guard let account = try await account(name, uid, caller) else { return ["account": .boolean(false)] }
    var values: [String: BusValue] = ["account": .boolean(true)]
    if let former = await removal.hall.formerName(of: account, removal.enclave) {
      values["former-name"] = .string(former)
    }
    let enclave = removal.enclave
    await enclave.learn(account.user, .named(account.name))
    // Looking must not make a keychain.
    guard try await enclave.usersWithKeychain().contains(account.user) else { return values }
    let status = await enclave.status(user: account.user)
    // A store that cannot be read says nothing of misses.
    if let error = status.storeError {
      values["store-error"] = .string(error)
      return values
    }
    values["locked-out"] = .boolean(status.isLockedOut)
    values["misses"] = .uint32(UInt32(clamping: status.misses))
    values["misses-allowed"] = .uint32(UInt32(clamping: status.missesAllowed))
    let bound = try await enclave.copyMatching(user: account.user, query: ItemQuery()).count {
      $0.item.accessControl.isBoundToBiometrySet
    }
    values["bound-secrets"] = .uint32(UInt32(clamping: bound))
    return values
  }

  private func account(_ name: String, _ uid: UInt32?, _ caller: Caller) async throws(BusMethodError) -> Account? {
    let accounts = removal.hall.accounts
    do {
      if let uid { return try await accounts.with(UserID(uid)) }
      return try await accounts.named(name, for: caller.user)
    } catch {
      throw .whorl("Failed", error.line)
    }
  }
}

extension ReaderHall {
  /// The name under which what is kept for an account's uid still is, where that is not the account's: after a renaming,
  /// or where another account had the uid before. Nil where there is none, or where it cannot be found out.
  func formerName(of account: Account, _ enclave: Enclave) async -> String? {
    func differs(_ name: String) -> Bool { !name.isEmpty && !name.utf8.elementsEqual(account.name.utf8) }
    if let owner = try? await enclave.owner(of: account.user), differs(owner) { return owner }
    let names = (try? owners.names(of: account.user.rawValue)) ?? []
    return names.first { differs($0) && (try? hasPrints($0)) == true }
  }
}
