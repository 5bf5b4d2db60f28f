import GLibLoop
import WhorlClient

@testable import WhorlCommand

extension FakeService {
  func keys(named name: String?) async throws(WhorlError) -> [KeyListing] {
    try enter("keys")
    return storedKeys.filter { name == nil || $0.name == name }
  }

  func generateKey(name: String, kind: KeyKind, requirement: Requirement, accessible: Accessibility)
    async throws(WhorlError) -> [UInt8]
  {
    try enter("generate", "\(name) \(kind.busName) \(requirement.rawValue)")
    let publicKey = Array("public half of \(name)".utf8)
    storedKeys.append(
      KeyListing(
        name: name, type: kind.busName, constraints: requirement.constraints, isGone: false,
        protection: accessible.rawValue, publicKey: publicKey))
    return publicKey
  }

  func sign(
    _ data: [UInt8], with name: String, by algorithm: WhorlSignatureAlgorithm, in context: WhorlContext,
    reason: String, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> [UInt8] {
    try enter("sign", reason)
    guard let key = storedKeys.first(where: { $0.name == name }) else { throw WhorlError(.itemNotFound, "") }
    try await authorize(key.constraints, progress)
    return Array("\(algorithm.rawValue) by \(name) of ".utf8) + data
  }

  func removeKey(name: String) async throws(WhorlError) {
    try enter("remove key")
    guard storedKeys.contains(where: { $0.name == name }) else { throw WhorlError(.itemNotFound, "") }
    storedKeys.removeAll { $0.name == name }
  }
}
