import SecretMemory

@testable import FuzzKit
@testable import Keychain

/// The tables of keys: rows whose contents come from the input and are sealed under the right keys, and columns that the
/// input puts something else into.
final class KeybagRows {
  private let bench: KeychainBench
  private let user = KeychainBench.user
  private let recovery: RecoveryKey

  init() throws {
    bench = try KeychainBench()
    recovery = try RecoveryKey()
  }

  func run(_ input: inout FuzzInput) throws {
    let database = bench.database
    for table in ["keybag", "class_key", "item"] { try database.run("DELETE FROM \(table)") }
    let root = input.field()
    for _ in 0..<input.choice(7) { try addSlot(&input, root) }
    let rootKey = try secret(root.count == Sealing.keyBytes ? root : [UInt8](repeating: 1, count: 32))
    for _ in 0..<input.choice(8) { try addClassKey(&input, rootKey) }
    for _ in 0..<input.choice(3) { try change(&input) }
    do throws(KeychainError) { try read() } catch {
      require(error.isRefusal, "a keybag is read or refused: \(error)")
      requireLine(error.description)
    }
  }

  // MARK: - Rows

  /// A slot whose content is sealed as the keychain does.
  private func addSlot(_ input: inout FuzzInput, _ root: [UInt8]) throws {
    let kindNumber = Int64(input.choice(8))
    let isStretched = kindNumber == SlotKind.passcode.rawValue || kindNumber == SlotKind.rescue.rawValue
    let parameterBytes = isStretched ? input.field() : []
    let content = input.flag() ? input.field() : root
    var wrapped = content
    let parameters = StretchingParameters(parameterBytes)
    if let kind = SlotKind(rawValue: kindNumber), let key = try slotKey(kind, parameters) {
      wrapped = Sealing.seal(
        try secret(content), key: key,
        associatedData: KeybagSlots.associatedData(kindNumber, kind, parameters, user: user))
    }
    try bench.database.run(
      "INSERT OR REPLACE INTO keybag(slot, kind, version, parameters, wrapped) VALUES(?, ?, 1, ?, ?)",
      [
        .integer(kindNumber), .integer(kindNumber), isStretched ? .blob(parameterBytes) : .null, .blob(wrapped),
      ])
  }

  private func slotKey(_ kind: SlotKind, _ parameters: StretchingParameters?) throws -> SecretBytes? {
    switch kind {
    case .device: return try Keybag.slotKey(bench.deviceKey, user: user)
    case .recovery: return try recovery.slotKey(UserKeychain.recoveryLabel, user: user)
    case .recoveryOfDevice: return try recovery.slotKey(UserKeychain.recoveryDeviceLabel, user: user)
    case .passcode, .rescue:
      guard let passcode = try Self.stretched(parameters) else { return nil }
      return kind == .rescue
        ? try UserKeychain.rescueSlotKey(passcode, user: user)
        : try UserKeychain.passcodeSlotKey(passcode, pepper: try Keybag.pepper(bench.deviceKey, user: user))
    }
  }

  /// nil for what costs more than a run may.
  private static func stretched(_ parameters: StretchingParameters?) throws -> StretchedPassword? {
    guard let parameters, parameters.passes <= 2, parameters.kibibytes <= 16 else { return nil }
    return try KeychainBench.passcode(parameters)
  }

  private func addClassKey(_ input: inout FuzzInput, _ rootKey: borrowing SecretBytes) throws {
    let number = Int64(input.choice(9))
    let isOfPasscode = ClassKeys.ofPasscode.contains { ClassKeys.number($0) == number }
    let root = isOfPasscode ? ClassKeys.Root.passcode : .device
    let content = input.flag() ? input.field() : [UInt8](repeating: UInt8(number), count: 32)
    let data = ClassKeys.associatedData(number, root, user: user)
    try bench.database.run(
      "INSERT OR REPLACE INTO class_key(class, version, root, wrapped) VALUES(?, 1, ?, ?)",
      [
        .integer(number), .integer(root.rawValue),
        .blob(Sealing.seal(try secret(content), key: rootKey, associatedData: data)),
      ])
  }

  private func change(_ input: inout FuzzInput) throws {
    let places = [
      ("keybag", "kind"), ("keybag", "version"), ("keybag", "parameters"), ("keybag", "wrapped"),
      ("class_key", "version"), ("class_key", "root"), ("class_key", "wrapped"),
    ]
    let (table, column) = places[input.choice(places.count)]
    let row = Int64(input.choice(8))
    try bench.database.run(
      "UPDATE \(table) SET \(column) = ? WHERE rowid = ?", [DatabaseValue(&input), .integer(row)])
  }

  // MARK: - Reading

  private func read() throws(KeychainError) {
    let slots = try KeybagSlots.read(from: bench.database)
    for (kind, slot) in slots {
      require(slot.kind == kind, "a slot is found under its kind")
      require((slot.parameters != nil) == kind.isStretched, "slots that are stretched say how")
    }
    try rescue(slots)
    let keychain = try bench.openKeychain(UnlockState())
    _ = try keychain.keybagState()
    try use(keychain)
    // Whatever can be opened can be opened again, and under another state too.
    let again = try bench.openKeychain(UnlockState())
    let isSame = SecretBytes.constantTimeEqual(keychain.keys.root, again.keys.root)
    require(isSame, "a keybag opens to the same keys")
  }

  private func use(_ keychain: UserKeychain) throws(KeychainError) {
    if let parameters = try keychain.passcodeParameters(), let passcode = try? Self.stretched(parameters) {
      if try keychain.unlock(with: passcode) {
        let wasLocked = try keychain.keybagState() != .unlocked
        require(!wasLocked, "a passcode that opens its slot unlocks")
        try keychain.setPasscode(passcode)
      }
    }
    keychain.unlockState.lock()
    if try keychain.unlock(with: recovery) {
      let isThere = try keychain.hasRecoveryKey()
      require(isThere, "a recovery key that unlocks is there")
    }
    for line in try keychain.checkFile() { requireLine(line) }
  }

  private func rescue(_ slots: [SlotKind: KeybagSlot]) throws(KeychainError) {
    guard let device = slots[.recoveryOfDevice] else { return }
    let key = try recovery.slotKey(UserKeychain.recoveryDeviceLabel, user: user)
    guard let root = try KeybagSlots.open(device, key: key, user: user) else { return }
    let pepper = try Keybag.pepper(bench.deviceKey, user: user)
    do throws(KeychainError) {
      _ = try Keybag.under(root, pepper: pepper, from: bench.database, user: user)
    } catch {
      require(error.isRefusal, "a keybag is rescued or refused: \(error)")
    }
  }

  static func seeds(_ mode: UInt8) -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for slots: [UInt8] in [[1], [1, 2], [1, 3, 4], [1, 2, 3, 4, 5]] {
      var seed = FuzzOutput([mode])
      seed.write(field: [UInt8](repeating: 1, count: 32))
      seed.write(UInt8(slots.count))
      for kind in slots {
        seed.write(kind)
        if kind == 2 || kind == 5 { seed.write(field: StretchingParameters(cost: .none).bytes) }
        seed.write(UInt8(0))
      }
      let classes: [UInt8] = slots.count == 1 ? [0, 1] : [0, 1, 2, 3, 4]
      seed.write(UInt8(classes.count))
      for number in classes {
        seed.write(number)
        seed.write(UInt8(0))
      }
      seeds.append(seed.bytes)
      // And with parameters in another slot, or other ones.
      for byte in [1, 2, UInt8(slots.count % 3 + 1), 3] { seed.write(byte) }
      seed.write(field: StretchingParameters(cost: .none).bytes)
      seeds.append(seed.bytes)
    }
    return seeds
  }
}

extension KeychainError {
  /// Whether it says that what is stored is not as it was stored, or of a later version.
  var isRefusal: Bool {
    switch self {
    case .tampered, .unsupported: true
    default: false
    }
  }
}
