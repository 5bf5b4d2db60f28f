import SecretMemory

@testable import FuzzKit
@testable import Keychain

/// The registered fingers: rows and a record that are sealed under the right keys, with contents from the input.
final class FingerRows {
  private let bench: KeychainBench

  init() throws {
    bench = try KeychainBench()
    _ = try bench.makeKeychain()
  }

  func run(_ input: inout FuzzInput) throws {
    let (database, user) = (bench.database, KeychainBench.user)
    let keys = try Keybag.open(from: database, user: user, deviceKey: bench.deviceKey)
    try database.run("DELETE FROM biometry_member")
    try database.run("DELETE FROM meta")
    var plains: [[UInt8]] = []
    let count = input.choice(5)
    for number in 1...(Int64(count) + 1) where number <= count {
      let (version, isSealed, id, plain) = (input.choice(8), input.flag(), input.field(), input.field())
      plain.withUnsafeBytes { bytes in
        guard let member = BiometrySetStore.decode(bytes, id: id) else { return }
        require(BiometrySetStore.encode(member) == plain, "a finger is written as it was read")
      }
      plains.append(plain)
      let sealed =
        isSealed
        ? plain
        : plain.withUnsafeBytes {
          Sealing.seal(
            $0, key: keys.biometrySet, associatedData: BiometrySetStore.memberData(number, id: id, user: user))
        }
      try database.run(
        "INSERT INTO biometry_member(number, version, id, sealed) VALUES(?, ?, ?, ?)",
        [.integer(number), .integer(version == 0 ? 2 : 1), .blob(id), .blob(sealed)])
    }
    if input.flag() {
      try database.run("UPDATE biometry_member SET id = ? WHERE number = 1", [DatabaseValue(&input)])
    }
    let digest = input.flag() ? input.bytes(32) : BiometrySetStore.digest(of: plains, key: keys.biometrySet)
    guard digest.count == 32 else { return }
    let record = try BiometrySetRecord(generation: input.number(UInt64.self), digest: digest)
    let sealed = input.flag() ? input.field() : record.sealed(key: keys.biometrySet, user: user)
    try database.run("INSERT INTO meta(name, value) VALUES('biometry-set', ?)", [.blob(sealed)])
    try read(plains, keys)
  }

  private func read(_ plains: [[UInt8]], _ keys: borrowing Keybag) throws {
    do throws(KeychainError) {
      let set = try BiometrySetStore.read(from: bench.database, user: KeychainBench.user, keys: keys)
      require(set.members.map(BiometrySetStore.encode) == plains, "the fingers are those that are stored")
      let keychain = try bench.openKeychain(UnlockState())
      _ = try keychain.biometryDomainState()
      // What is read can be written: the next enrolment.
      try keychain.recordEnrolment(finger: 2, reader: "virtual/2", print: [2])
      require(try keychain.isRegistered(print: [2]) != nil, "a finger can be registered beside those")
    } catch {
      require(error.isTampered || error.isUnsupported, "fingers are read or refused: \(error)")
      requireLine(error.description)
    }
  }

  static func seeds(_ mode: UInt8) -> [[UInt8]] {
    (0...2).map { count in
      var seed = FuzzOutput([mode, UInt8(count)])
      for number in 0..<UInt8(count) {
        let id = [UInt8](repeating: number, count: 16)
        let member = BiometrySetMember(
          id: id, finger: number + 1, reader: "virtual/1", printDigest: id + id, enrolledAt: 1000)
        seed.write(UInt8(1))
        seed.write(UInt8(0))
        seed.write(field: id)
        seed.write(field: BiometrySetStore.encode(member))
      }
      for _ in 0..<11 { seed.write(UInt8(0)) }
      return seed.bytes
    }
  }
}
