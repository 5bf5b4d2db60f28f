import SecretMemory

@testable import FuzzKit
@testable import Keychain

/// The records that a keychain has one of: lockout, set of fingers, owner.
final class RecordRows {
  private let bench: KeychainBench
  private let keychain: UserKeychain

  init() throws {
    bench = try KeychainBench()
    keychain = try bench.makeKeychain()
  }

  func run(_ input: inout FuzzInput) throws {
    let (which, isSealed) = (input.choice(3), !input.flag())
    let purpose = [Purpose.lockout, .biometrySet, .owner][which]
    let (database, user, plain) = (bench.database, KeychainBench.user, input.all())
    let sealed =
      isSealed
      ? plain.withUnsafeBytes { bytes in
        let data = purpose.associatedData(of: user)
        switch which {
        case 0: return Sealing.seal(bytes, key: keychain.keys.lockout, associatedData: data)
        case 1: return Sealing.seal(bytes, key: keychain.keys.biometrySet, associatedData: data)
        default: return Sealing.seal(bytes, key: keychain.keys.attributes, associatedData: data)
        }
      } : plain
    do throws(KeychainError) {
      switch which {
      case 0:
        try database.run("INSERT OR REPLACE INTO lockout(id, version, sealed) VALUES(1, 1, ?)", [.blob(sealed)])
        try lockout(plain, isSealed)
      case 1:
        let record = try BiometrySetRecord(sealed: sealed, key: keychain.keys.biometrySet, user: user)
        let isThere = record != nil
        require(
          isThere == (isSealed && plain.count == 73 && plain[0] == 1), "the record of the fingers is one, or none")
      default:
        try database.run("INSERT OR REPLACE INTO meta(name, value) VALUES('owner', ?)", [.blob(sealed)])
        let owner = try keychain.owner()
        require(owner.map { Array($0.utf8) } == plain, "the owner is the one that was stored")
      }
    } catch {
      requireLine(error.description)
      require(error.isTampered, "a record is read or refused: \(error)")
    }
  }

  private func lockout(_ plain: [UInt8], _ isSealed: Bool) throws(KeychainError) {
    let record = try keychain.lockout()
    require(record.isDamaged || isSealed, "a record that was altered says locked")
    guard !record.isDamaged else { return }
    do throws(KeychainError) { try keychain.setLockout(record) } catch {
      guard case .invalidParameter = error else { throw error }
      return
    }
    let again = try keychain.lockout()
    require(again == record, "a lockout record is read as it was written")
  }

  static func seeds(_ mode: UInt8) -> [[UInt8]] {
    var lockout = ByteWriter()
    for count in [UInt8(3), 4] { lockout.write(count) }
    for time in [Int64(5), 6] { lockout.write(time) }
    lockout.write([UInt8](repeating: 7, count: 16))
    return [
      [mode, 0, 0] + lockout.bytes, [mode, 1, 0, 1] + [UInt8](repeating: 8, count: 72), [mode, 2, 0] + "name".utf8,
      [mode, 2, 1],
    ]
  }
}
