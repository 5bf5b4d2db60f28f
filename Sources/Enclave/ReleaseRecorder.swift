public import Keychain

/// A use of a secret that was let happen, or refused.
public struct ReleaseEvent: Sendable, Equatable {
  /// Whose secret it is, and the connection of the program that asked.
  public let owner: ContextOwner
  /// What was to be done with it: `read`, `change` or `use-key`; with the whole keychain: `export`,
  /// `make-recovery-key`, `give-recovery-key`, `recover`.
  public let deed: String
  /// The keyed hash of the item's name (`UserKeychain.logName`); empty for the whole keychain.
  public let item: [UInt8]
  /// What the item asks for, by the names on the bus.
  public let constraints: [String]
  /// Nil for a release; else what it ended with.
  public let error: EnclaveError?
}

/// Notes what becomes of each request for a secret. Called on the enclave: must not wait.
public protocol ReleaseRecorder: Sendable {
  /// Notes one.
  func record(_ event: ReleaseEvent)
}

extension ItemPurpose {
  /// Its name in the log.
  var deed: String {
    switch self {
    case .secret: "read"
    case .change: "change"
    case .key: "use-key"
    }
  }
}

extension Enclave {
  /// Has every release and refusal noted from now on.
  public func setRecorder(_ recorder: any ReleaseRecorder) { self.recorder = recorder }

  /// Notes what became of a request for an item; an item that is not there has nothing to note.
  func note(_ owner: ContextOwner, _ deed: String, _ item: ItemSummary?, _ error: EnclaveError?) {
    guard let recorder, let item, let name = try? shelf.keychain(of: owner.user).logName(of: item.attributes) else {
      return
    }
    recorder.record(
      ReleaseEvent(owner: owner, deed: deed, item: name, constraints: item.accessControl.names, error: error))
  }

  /// Runs something with all of a user's secrets, and notes what became of it.
  func noting<R: ~Copyable>(
    _ owner: ContextOwner, _ deed: String, _ body: () async throws(EnclaveError) -> R
  ) async throws(EnclaveError) -> R {
    do throws(EnclaveError) {
      let result = try await body()
      recorder?.record(ReleaseEvent(owner: owner, deed: deed, item: [], constraints: [], error: nil))
      return result
    } catch {
      recorder?.record(ReleaseEvent(owner: owner, deed: deed, item: [], constraints: [], error: error))
      throw error
    }
  }

  /// The items of a user that are known by these hashes, as far as they are still there. After a rekeying it goes through
  /// all items, and others have their turn at the enclave in between.
  /// - Throws: `.keychain`; `.appCancel`.
  public func items(
    byLogNames names: Set<[UInt8]>, of user: UserID
  ) async throws(EnclaveError) -> [[UInt8]: ItemAttributes] {
    let names = names.filter { !$0.isEmpty }
    var found: [[UInt8]: ItemAttributes] = [:]
    guard try withKeychain(of: user, { keychain throws(KeychainError) in !keychain.findsLogNames }) else {
      for name in names {
        let item = try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.item(byLogName: name) }
        if let item { found[name] = item.attributes }
      }
      return found
    }
    var last: ItemID?
    repeat {
      guard !Task.isCancelled else { throw .appCancel }
      last = try withKeychain(of: user) { keychain throws(KeychainError) in
        let page = try keychain.page(ItemQuery(), after: last, count: Limits.searchRows, includeInvalidated: true)
        for item in page.items {
          let name = keychain.logName(of: item.attributes)
          if names.contains(name) { found[name] = item.attributes }
        }
        return page.next
      }
      if last != nil { await elsewhere.pause() }
    } while last != nil && found.count < names.count
    return found
  }
}
