internal import Keychain

/// Does the work of passwords, one at a time, so that the enclave is there for others meanwhile and the memory that it
/// takes is bounded.
actor Stretching {
  func stretch(
    _ password: HeldSecret, _ parameters: StretchingParameters
  ) throws(KeychainError) -> StretchedPassword {
    // Nobody waits for it any more.
    if Task.isCancelled { throw .io("the request was cancelled") }
    return try password.with { secret throws(KeychainError) in try StretchedPassword(secret, parameters: parameters) }
  }
}
