internal import Bus
internal import Enclave
internal import GLibLoop
internal import Keychain
internal import PrintStore
internal import ReaderLink

/// `whorl forget` and `whorl rename-user`: what becomes of an account's data when the account goes or changes its name.
///
/// Forgetting goes from what is worst to keep to what is least: what runs for the account ends, then its keychain goes
/// (one step: all or nothing), then the prints on the disk, then those on the chips of readers. Whatever fails on the
/// way is named, and the same call again goes on from there.
@GLibActor
struct AccountRemoval {
  /// polkit's action for callers who are not root.
  static let action = "org.whorl.forget"

  let hall: ReaderHall
  let enclave: Enclave
  let polkit: PolkitAuthority
  let releases: Releases
  /// Ends the claims of `net.reactivated.Fprint` for the users of whom the given function says true.
  let endClaims: @GLibActor (@escaping (FprintUser) -> Bool) async -> Void

  /// What belongs together: names of print folders, compared by bytes, and uids of keychains.
  private struct Targets {
    var names: [String] = []
    var users: Set<UserID> = []

    func contains(_ name: String) -> Bool { names.contains { $0.utf8.elementsEqual(name.utf8) } }

    mutating func add(_ name: String) {
      // Who named folders of the store otherwise did not do it through Whorl.
      if !contains(name), (try? PrintStore.check(user: name)) != nil { names.append(name) }
    }
  }

  // MARK: Forget

  /// Removes all that is kept for an account, by its name or, where `uid` is given, for that uid.
  ///
  /// By name: the prints under that name, the keychains that were made for an account of that name, and that of the uid
  /// which the account has now unless it is another account's. By uid: the keychain of the uid whoever it belongs to,
  /// and the prints that were enrolled for the uid.
  /// - Returns: what was removed and what remains; data/dbus/org.whorl.Authentication1.xml lists the keys.
  func forget(_ name: String, uid: UInt32?, _ caller: Caller) async throws -> [String: BusValue] {
    guard (uid == nil) != name.isEmpty else {
      throw BusMethodError.whorl("Param", "ForgetUser takes a name, or an empty one and the option \"uid\".")
    }
    try await authorise(caller)
    let targets: Targets
    let exists: Bool
    if let uid {
      (targets, exists) = try await self.targets(uid: UserID(uid))
    } else {
      (targets, exists) = try await self.targets(name: name, caller)
    }
    await endClaims { user in
      targets.contains(user.name) || user.account.map { targets.users.contains($0.user) } == true
    }
    var items = 0
    var keychains = 0
    var unread = 0
    var unforgotten: [String] = []
    for user in targets.users.sorted(by: { $0.rawValue < $1.rawValue }) {
      let forgotten = try await enclave.forget(user)
      if await !releases.forget(user) { unforgotten.append("the log of what programs were given of uid \(user)") }
      guard forgotten.existed else { continue }
      keychains += 1
      items += forgotten.items ?? 0
      if forgotten.items == nil { unread += 1 }
    }
    var prints = ReaderHall.PrintRemoval()
    for name in targets.names {
      let removal = await hall.removePrints(of: name)
      prints.fingers += removal.fingers
      prints.onChip += removal.onChip
      prints.remains += removal.remains
      prints.absent += removal.absent
      guard removal.error == nil else { continue }
      do { try hall.owners.forget(name) } catch { prints.remains.append("the record whose prints they were: \(error)") }
    }
    prints.remains += unforgotten
    let what = uid.map { "uid \($0)" } ?? "an account of that name"
    guard keychains > 0 || prints.fingers > 0 || !prints.remains.isEmpty else {
      throw BusMethodError.whorl(
        "NoSuchUser",
        exists
          ? "Nothing is kept for \(what); there is nothing to remove."
          : "Nothing is kept for \(what), and there is no such account; check the name or the uid.")
    }
    func count(_ number: Int, _ one: String) -> String { "\(number) \(one)\(number == 1 ? "" : "s")" }
    Log.notice(
      "for uid \(caller.user), what was kept for \(uid.map { "uid \($0)" } ?? name.printable) was removed: "
        + "\(count(keychains, "keychain")), \(count(items, "item")), \(count(prints.fingers, "print"))")
    return [
      "items": .uint32(UInt32(clamping: items)), "keychains": .uint32(UInt32(clamping: keychains)),
      "unread-keychains": .uint32(UInt32(clamping: unread)), "prints": .uint32(UInt32(clamping: prints.fingers)),
      "chip-prints": .uint32(UInt32(clamping: prints.onChip)), "remains": .strings(prints.remains),
      "absent-readers": .strings(Array(Set(prints.absent)).sorted()),
    ]
  }

  /// Whether there is anything that ``forget(_:uid:_:)`` would remove, or at least such an account. For root, who is
  /// asked for nothing by it.
  func knows(_ name: String, uid: UInt32?, _ caller: Caller) async throws -> Bool {
    let (targets, exists) =
      if let uid { try await self.targets(uid: UserID(uid)) } else { try await self.targets(name: name, caller) }
    if exists { return true }
    let keychains = Set(try await enclave.usersWithKeychain())
    if !targets.users.isDisjoint(with: keychains) { return true }
    // What cannot be looked at may be there.
    return targets.names.contains { (try? hall.hasPrints($0)) ?? true }
  }

  private func authorise(_ caller: Caller) async throws(BusMethodError) {
    guard caller.user.rawValue != 0 else { return }
    guard await polkit.allows(caller, Self.action) else {
      throw .whorl(
        "Denied",
        "Only an administrator may remove what is kept for an account (\(Self.action)); run it with sudo.")
    }
  }

  private func targets(name: String, _ caller: Caller) async throws -> (Targets, exists: Bool) {
    do { try PrintStore.check(user: name) } catch { throw BusMethodError.whorl("Param", "\(error)") }
    let account = try await named(name, caller)
    var targets = Targets()
    targets.add(name)
    if let account { targets.add(account.name) }
    let users = try await enclave.usersWithKeychain()
    for user in users {
      let isCurrent = user == account?.user
      let owner: String?
      do {
        owner = try await enclave.owner(of: user)
      } catch {
        // One that cannot be read is the present account's; another's is left for --uid.
        if isCurrent { targets.users.insert(user) }
        continue
      }
      if let owner {
        if targets.contains(owner) { targets.users.insert(user) }
      } else if isCurrent {
        targets.users.insert(user)
      }
    }
    // Without a keychain there may still be requests to end.
    if let account, !users.contains(account.user) { targets.users.insert(account.user) }
    return (targets, account != nil)
  }

  private func targets(uid: UserID) async throws -> (Targets, exists: Bool) {
    let account: Account?
    do { account = try await hall.accounts.with(uid) } catch { throw BusMethodError.whorl("Failed", error.line) }
    var targets = Targets()
    targets.users.insert(uid)
    do {
      for name in try hall.owners.names(of: uid.rawValue) { targets.add(name) }
      if let account, try isUnrecorded(account.name) { targets.add(account.name) }
    } catch {
      throw BusMethodError.whorl("Failed", "The records whose prints are whose cannot be read: \(error)")
    }
    return (targets, account != nil)
  }

  private func isUnrecorded(_ name: String) throws(PrintStoreError) -> Bool {
    guard (try? PrintStore.check(user: name)) != nil else { return false }
    return try hall.owners.uid(of: name) == nil
  }

  private func named(_ name: String, _ caller: Caller) async throws(BusMethodError) -> Account? {
    do { return try await hall.accounts.named(name, for: caller.user) } catch { throw .whorl("Failed", error.line) }
  }

  // MARK: Rename

  /// Hands what was kept under an account's old name over to its new one, after the account was renamed. For root.
  func rename(_ old: String, _ new: String, _ caller: Caller) async throws -> [String: BusValue] {
    guard caller.user.rawValue == 0 else {
      throw BusMethodError.whorl(
        "Denied", "Only root may hand an account's data over to another name; run it with sudo.")
    }
    do { try PrintStore.check(user: old) } catch { throw BusMethodError.whorl("Param", "\(error)") }
    guard let account = try await named(new, caller) else {
      throw BusMethodError.whorl("NoSuchUser", "There is no account of the new name; rename it first (usermod -l).")
    }
    let former = try await named(old, caller)
    if let former, former.user != account.user {
      throw BusMethodError.whorl(
        "Denied",
        "There is an account of the old name, with another uid (\(former.user)), and nothing was changed; check the "
          + "names: the old one is that which uid \(account.user) had before.")
    }
    if old.utf8.elementsEqual(account.name.utf8) {
      throw BusMethodError.whorl(
        "Param",
        "The old name and the new one are the same account's; give the name that it had before as the old one.")
    }
    let oldUser = FprintUser(name: old, account: Account(user: account.user, name: old))
    await endClaims { $0.account?.user == account.user }
    let hasPrints: Bool
    do {
      hasPrints = try hall.hasPrints(old)
      if hasPrints {
        guard try hall.ownership(of: oldUser) == .own else {
          throw BusMethodError.whorl(
            "Denied", "The prints of the old name were enrolled for another uid; remove them with whorl forget.")
        }
        guard try !hall.hasPrints(account.name) else {
          throw BusMethodError.whorl(
            "Denied", "Both names have prints; delete those of one of them first (whorl delete --all --user NAME).")
        }
      }
    } catch let error as PrintStoreError {
      throw BusMethodError.whorl("Failed", "The prints cannot be looked at: \(error)")
    }
    // The keychain first: it alone can refuse. All the rest can be done again where it breaks off.
    let hasKeychain = try await enclave.renameOwner(of: account.user, from: old, to: account.name)
    await enclave.learn(account.user, .named(account.name))
    do {
      if hasPrints {
        try hall.owners.record(account.user.rawValue, for: account.name)
        _ = try hall.store.rename(user: old, to: account.name)
        _ = try hall.lostPrints.rename(user: old, to: account.name)
      }
      try hall.owners.forget(old)
    } catch {
      throw BusMethodError.whorl(
        "Failed", "The keychain is the new name's now, but the prints could not be renamed (\(error)); try again.")
    }
    guard hasKeychain || hasPrints else {
      throw BusMethodError.whorl(
        "NoSuchUser",
        "Nothing is kept under the old name, or it was handed over before; check the names, whorl status tells the "
          + "account itself.")
    }
    return ["keychain": .boolean(hasKeychain), "prints": .boolean(hasPrints)]
  }
}
