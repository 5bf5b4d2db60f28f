internal import Enclave
internal import Keychain
internal import SecretMemory

/// The machine's device key, with the state folder made first.
struct PreparedDeviceKeys: DeviceKeySource {
  let store: DeviceKeyStore
  let surroundings: Surroundings

  func load(create: Bool) throws(KeychainError) -> SecretBytes {
    do {
      try surroundings.prepareFolders()
    } catch {
      throw .deviceKeyUnavailable(error.line)
    }
    return try store.load(create: create)
  }

  func replace() throws(KeychainError) -> SecretBytes { try store.replace() }

  func sealing() throws(KeychainError) -> DeviceKeySealing? { try store.sealing() }
}
