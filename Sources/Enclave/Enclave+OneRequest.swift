internal import Keychain

/// Requests whose passcode somebody else than their program asks for.
extension Enclave {
  /// For how many seconds what is shown in a context covers its further requests.
  /// - Throws: `.invalidContext`.
  public func reuse(of context: ContextID, owner: ContextOwner) throws(EnclaveError) -> Int {
    try requireContext(context, owner).reuse
  }

  /// A context for one request of a program's, apart from the one that the program made: the person was told what this
  /// request is for, so what is shown for it must not serve another. The program cannot name it, and it ends with the
  /// connection, or by `invalidate`. The program's own password goes along.
  /// - Parameter request: a number that no other request of that connection has.
  /// - Throws: `.invalidContext`, `.busy`.
  public func contextForRequest(
    _ request: UInt64, of context: ContextID, owner: ContextOwner
  ) throws(EnclaveError) -> (id: ContextID, owner: ContextOwner) {
    let parent = try requireContext(context, owner)
    guard lastContext < .max else { throw .busy("there were too many authentication contexts; restart whorld") }
    lastContext += 1
    let id = ContextID(rawValue: lastContext)
    let owner = ContextOwner(connection: owner.connection, user: owner.user, request: request)
    var child = AuthenticationContext(owner: owner, reuse: 0, interactionNotAllowed: parent.interactionNotAllowed)
    child.applicationPassword = parent.applicationPassword
    contexts[id] = child
    return (id, owner)
  }
}
