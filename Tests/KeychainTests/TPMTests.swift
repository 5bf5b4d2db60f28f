import Foundation
import Glibc
import SecretMemory
import TestKit
import Testing

@testable import Keychain

/// The device key sealed to a TPM2: the real systemd-creds with swtpm.
@Suite(
  .timeLimit(.minutes(2)), .serialized,
  .enabled(if: SoftwareTPM.isAvailable, "swtpm, tpm2-tools or systemd-creds is missing"))
struct TPMTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A TPM with a state of that name; another name is another machine's.
  private func tpm(_ name: String) async throws -> SoftwareTPM { try await SoftwareTPM(in: folder(name)) }

  private func store(_ device: String) -> DeviceKeyStore {
    DeviceKeyStore(path: folder("device-key"), credentialSecret: folder("host.secret"), tpm2Device: device)
  }

  @Test func `the key is sealed to the TPM, and comes back after the machine was started anew`() async throws {
    let first = try await tpm("machine")
    let key = array(try store(first.device).load())
    #expect(key.count == 32)
    #expect(try store(first.device).sealing() == .hostAndTPM2)
    try await first.stop()
    let second = try await tpm("machine")
    #expect(array(try store(second.device).load(create: false)) == key)
  }

  @Test func `another TPM does not give it: that is named, the file stays, and a new key can take its place`()
    async throws
  {
    let first = try await tpm("machine")
    let key = array(try store(first.device).load())
    let sealed = try Data(contentsOf: URL(fileURLWithPath: folder("device-key")))
    let other = try await tpm("another")
    let error = #expect(throws: KeychainError.self) { _ = try store(other.device).load(create: false) }
    guard case .deviceKey(let why)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(why.contains("with this machine's TPM") && why.contains("whorl recover"), "\(why)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder("device-key"))) == sealed)

    let replaced = array(try store(other.device).replace())
    #expect(replaced != key)
    #expect(array(try store(other.device).load(create: false)) == replaced)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder("device-key.lost-1"))) == sealed)
  }
}
