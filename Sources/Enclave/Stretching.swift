internal import Keychain

/// Does the work of passwords, one at a time, so that the enclave is there for others meanwhile and the memory that it
/// takes is bounded.
actor Stretching {
  func stretch(
    _ password: HeldSecret, _ parameters: StretchingParameters
  ) throws(KeychainError) -> StretchedPassword {
    try password.with { secret throws(KeychainError) in try StretchedPassword(secret, parameters: parameters) }
  }
}
