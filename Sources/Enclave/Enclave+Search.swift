public import Keychain

/// Finding items, which never prompts.
extension Enclave {
  /// The attributes of the items that match, in the order they were added; never prompts, and needs no reader.
  /// - Parameters:
  ///   - limit: the most items; 0 for all.
  ///   - includeInvalidated: also those whose fingers changed.
  ///   - reference: of the last item of the part before, so that many items are had in parts; nil for the first.
  /// - Throws: `.keychain`; `.parameter` for a reference that is not this keychain's.
  public func copyMatching(
    user: UserID, query: ItemQuery, limit: Int = 0, includeInvalidated: Bool = false, after reference: [UInt8]? = nil
  ) async throws(EnclaveError) -> [FoundItem] {
    var found: [FoundItem] = []
    var last: ItemID?
    if let reference {
      last = try withKeychain(of: user) { keychain throws(KeychainError) in keychain.item(of: reference) }
      guard last != nil else { throw .parameter("\"after\" names no item of this keychain; give what a search gave") }
    }
    try await search(user, query, includeInvalidated: includeInvalidated, after: last) { page throws(EnclaveError) in
      if let first = page.damaged.first { throw .keychain(first.error) }
      found += try withKeychain(of: user) { keychain throws(KeychainError) in
        page.items.map { FoundItem(item: $0, reference: keychain.persistentReference(of: $0.id)) }
      }
      return limit == 0 || found.count < limit
    }
    return limit == 0 ? found : Array(found.prefix(limit))
  }

  /// Goes through the items that match, page by page, until `body` gives false. In between others have their turn at the
  /// enclave: one user's thousands of items hold nobody up.
  private func search(
    _ user: UserID, _ query: ItemQuery, includeInvalidated: Bool, after first: ItemID? = nil,
    _ body: (ItemPage) throws(EnclaveError) -> Bool
  ) async throws(EnclaveError) {
    var last = first
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

  /// The item that a request would get: to be shown to the person, and then given to that request, which gets that one or
  /// none; never prompts.
  /// - Throws: as the request where it finds none.
  public func find(_ query: ItemQuery, of user: UserID, for use: ItemUse) async throws(EnclaveError) -> ItemSummary {
    let query = use == .key ? try Self.privateKeys(query) : query
    let id = try await locate(query, of: user, mustBeOnlyOne: use == .change)
    return try withKeychain(of: user) { keychain throws(KeychainError) in try keychain.summary(of: id) }
  }

  /// The item that is meant: the first that has its secret.
  func locate(
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
    guard let present else { throw .keychain(lost?.state.error ?? .itemNotFound) }
    guard !mustBeOnlyOne || count == 1 else {
      throw .parameter("\(count) items match; name service and account of the one to change")
    }
    return present
  }
}

/// An item that was found, and what names it from now on.
public struct FoundItem: Sendable, Hashable {
  /// All there is but its secret.
  public let item: ItemSummary
  /// Names it for as long as it is there (`ItemQuery.persistentReference`).
  public let reference: [UInt8]
}

/// What an item is to be found for (`Enclave.find`).
public enum ItemUse: Sendable {
  /// `copySecret`.
  case read
  /// `update`.
  case change
  /// `sign` and `agree`.
  case key
}
