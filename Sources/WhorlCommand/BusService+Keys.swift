import GLibLoop
import WhorlClient

/// Keys: private keys whose application tag is `whorl:` and their name.
extension BusService {
  func keys(named name: String?) async throws(WhorlError) -> [KeyListing] {
    let items = try await whorl.copyMatching(keyQuery(name), includingInvalidated: true)
    return items.compactMap { item in
      // A query is a wish: what the command shows and uses is what it asked for.
      guard item.attributes.keyClass == "private", item.attributes.accessGroup?.isEmpty ?? true,
        let tag = item.attributes.applicationTag,
        tag.starts(with: CommandItems.keyTagPrefix),
        let found = String(validating: tag.dropFirst(CommandItems.keyTagPrefix.count), as: UTF8.self),
        name == nil || Array(found.utf8) == name.map({ Array($0.utf8) })
      else { return nil }
      return KeyListing(
        name: found, type: item.attributes.keyType ?? "",
        // Every key may be used; what is to be shown is what that asks for.
        constraints: item.constraints.filter { $0 != .privateKeyUsage }.map(\.rawValue),
        isGone: item.isInvalidated || item.isPasscodeRemoved, protection: item.protection,
        publicKey: item.attributes.generic ?? [])
    }
  }

  func generateKey(name: String, kind: KeyKind, requirement: Requirement, accessible: Accessibility)
    async throws(WhorlError) -> [UInt8]
  {
    var attributes = WhorlAttributes(label: name)
    attributes.applicationTag = CommandItems.keyTagPrefix + Array(name.utf8)
    return try await whorl.generateKey(
      WhorlKeyType(rawValue: kind.busName), attributes: attributes,
      accessControl: WhorlAccessControl(
        protection: WhorlProtection(rawValue: accessible.rawValue),
        constraints: [.privateKeyUsage] + requirement.constraints.map { WhorlConstraint(rawValue: $0) }))
  }

  func sign(
    _ data: [UInt8], with name: String, by algorithm: WhorlSignatureAlgorithm, in context: WhorlContext,
    reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> [UInt8] {
    try await whorl.sign(
      data, with: keyQuery(name), by: algorithm, in: context, prompt: WhorlPrompt(reason: reason), progress: progress)
  }

  func removeKey(name: String) async throws(WhorlError) { _ = try await whorl.delete(keyQuery(name)) }

  private func keyQuery(_ name: String?) -> WhorlAttributes {
    var query = WhorlAttributes(itemClass: "key")
    query.keyClass = "private"
    query.accessGroup = ""
    query.applicationTag = name.map { CommandItems.keyTagPrefix + Array($0.utf8) }
    return query
  }
}
