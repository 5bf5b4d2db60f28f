public import Keychain

/// What the name service says of a uid.
public enum AccountName: Sendable, Equatable {
  /// The account's name, in the name service's own spelling.
  case named(String)
  /// There is no account with that uid, and yet a program runs with it.
  case nameless
  /// It cannot be found out now; says why, in one line for people.
  case unknown(String)
}

/// What `Enclave.forget` removed.
public struct ForgottenKeychain: Sendable, Equatable {
  /// Whether there was a keychain at all.
  public let existed: Bool
  /// How many items were in it; nil where it could not be read.
  public let items: Int?
}

/// A uid can be given to another account. The keychain of a uid belongs to the account that it was made for, by name,
/// and opens for no other.
extension Enclave {
  /// What the name service says of a uid now. To be told before anything of that user's is asked for: a keychain opens
  /// only for a name that is known.
  public func learn(_ user: UserID, _ name: AccountName) { shelf.learn(user, name) }

  /// The uids that have a keychain.
  /// - Throws: `.keychain` where their folder cannot be read.
  public func usersWithKeychain() throws(EnclaveError) -> [UserID] {
    do { return try shelf.usersWithKeychain() } catch { throw .keychain(error) }
  }

  /// The name of the account that the keychain of a uid belongs to; empty for an account without a name, nil where there
  /// is no keychain or none was recorded.
  /// - Throws: `.keychain` where it cannot be read.
  public func owner(of user: UserID) throws(EnclaveError) -> String? {
    do { return try shelf.existingKeychain(of: user)?.owner() } catch { throw .keychain(error) }
  }

  /// Removes what is kept for a uid, whoever it belongs to: items, keys, registered fingers, the lockout record. Its
  /// contexts and what waits in them end.
  ///
  /// Needs neither the device key nor a keychain that is whole.
  /// - Throws: `.keychain` where it could not be removed; it is then as it was, but contexts have ended.
  public func forget(_ user: UserID) async throws(EnclaveError) -> ForgottenKeychain {
    for (id, context) in contexts where context.owner.user == user { contexts[id] = nil }
    endOperations(.failed("an administrator removed what Whorl keeps for this account; ask again")) { $0.user == user }
    let items = try? shelf.existingKeychain(of: user)?.itemCount()
    do {
      let existed = try shelf.remove(user)
      unrecorded.remove(user)
      pendingPasscodes[user] = nil
      // What is still under way must not make a new one: whoever asks next is looked up first.
      shelf.unlearn(user)
      // It is gone already. Overwriting takes as long as it was large.
      await storeWork.wipe(shelf.folder)
      return ForgottenKeychain(existed: existed, items: existed ? items : 0)
    } catch {
      throw .keychain(error)
    }
  }

  /// After the account of a uid was renamed: its keychain belongs to the new name from now on.
  /// - Returns: whether there is one that was not the new name's already.
  /// - Throws: `.denied` where it belongs to neither name; `.keychain`.
  public func renameOwner(of user: UserID, from old: String, to new: String) throws(EnclaveError) -> Bool {
    do {
      guard let keychain = try shelf.existingKeychain(of: user) else { return false }
      let owner = try keychain.owner()
      guard let owner, !owner.utf8.elementsEqual(old.utf8), !owner.utf8.elementsEqual(new.utf8) else {
        guard owner.map({ !$0.utf8.elementsEqual(new.utf8) }) ?? true else { return false }
        try keychain.setOwner(new)
        shelf.close(user)
        return true
      }
      throw EnclaveError.denied(
        "what is stored for uid \(user) belongs to another account (\(Self.shown(owner))); nothing was changed")
    } catch {
      throw error as? EnclaveError ?? .failed("\(error)")
    }
  }

  /// A name on one line.
  private static func shown(_ name: String) -> String {
    name.isEmpty
      ? "one without a name" : String(String.UnicodeScalarView(name.unicodeScalars.filter { $0.value >= 32 }))
  }
}
