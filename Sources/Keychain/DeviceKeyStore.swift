internal import Glibc
public import SecretMemory

/// What the device key is sealed to.
public enum DeviceKeySealing: String, Sendable, CaseIterable {
  /// The host key that systemd keeps on the same disk: who has the disk has both.
  case host = "host"
  /// The host key and the machine's TPM2: the disk alone is not enough.
  case hostAndTPM2 = "host+tpm2"

  /// The name the key is sealed under: so the file cannot claim another sealing than it has.
  var credentialName: String {
    switch self {
    case .host: "whorl-device-key-host"
    case .hostAndTPM2: "whorl-device-key-host-tpm2"
    }
  }
}

/// The machine's device key, sealed by `systemd-creds` in a file.
///
/// The file is one line, `whorl-device-key 1 SEALING`, and what systemd-creds gave. systemd's own host key
/// (`/var/lib/systemd/credential.secret`) is root's: without root a key can be had only with a `credentialSecret` of
/// one's own, as in private mode.
public struct DeviceKeyStore: Sendable {
  private let folder: String
  private let name: String
  private let credentialSecret: String?
  private let program: String
  private let secondsToWait: Int
  private let tpm2Device: String?

  private var path: String { "\(folder)/\(name)" }
  private static let header = "whorl-device-key 1 "
  private static let sealedBytes = 64 << 10

  /// A store in the file `path`, made at first use.
  /// - Parameters:
  ///   - path: the sealed file; its folder is made with mode 0700 where it is missing.
  ///   - credentialSecret: in private mode, the file that takes the place of systemd's own host key; the TPM is then
  ///     left alone.
  ///   - program: where systemd-creds is.
  ///   - secondsToWait: how long one run of it may take.
  ///   - tpm2Device: which TPM2 seals the key, as systemd-creds names it; nil for the machine's, where it has one.
  public init(
    path: String, credentialSecret: String? = nil, program: String = "/usr/bin/systemd-creds", secondsToWait: Int = 60,
    tpm2Device: String? = nil
  ) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    folder = parts.count > 1 ? parts.dropLast().joined(separator: "/") : "."
    name = parts.last.map(String.init) ?? ""
    self.credentialSecret = credentialSecret
    self.program = program
    self.secondsToWait = secondsToWait
    self.tpm2Device = tpm2Device
  }

  /// The device key, 32 bytes; makes and seals one where there is no file yet.
  ///
  /// One caller at a time, among processes too: all get the same key. A file that cannot be opened is never replaced.
  /// - Parameter create: whether a key may be made; without, a missing file is an error.
  /// - Throws: `.deviceKey` where it is refused or lost, `.deviceKeyUnavailable` where systemd-creds could not be run to its
  ///   end, both saying why and what to do; `.refusedFile`, `.corrupt`, `.diskFull`, `.readOnly`, `.io`,
  ///   `.busy`, `.memory`.
  public func load(create: Bool = true) throws(KeychainError) -> SecretBytes {
    let folder = try StoreFolder(path: folder, create: create)
    if try folder.hasPlainFile(name) {
      let (sealing, sealed) = try stored(in: folder)
      return try unseal(sealed, sealing)
    }
    guard create else {
      throw .deviceKey("the device key \(path) is missing; restore it from a backup, for the keychains need it")
    }
    return try make(in: folder)
  }

  /// Makes a new device key in the place of one that cannot be had any more. The old file is kept beside it, as
  /// `NAME.lost-1` and so on.
  ///
  /// To be called only by who has proved that a keychain opens without the old key: whatever is only under that one is
  /// out of reach from then on.
  /// - Throws: as `load`; then the old file is in its place.
  public func replace() throws(KeychainError) -> SecretBytes {
    let folder = try StoreFolder(path: folder, create: true)
    guard try folder.hasPlainFile(name) else { return try make(in: folder) }
    var number = 1
    while try folder.hasPlainFile("\(name).lost-\(number)") { number += 1 }
    let aside = "\(name).lost-\(number)"
    try folder.publish(name, as: aside)
    do throws(KeychainError) { return try make(in: folder) } catch {
      try? folder.publish(aside, as: name)
      throw error
    }
  }

  /// What the stored key is sealed to; nil where there is none yet.
  /// - Throws: `.refusedFile`, `.corrupt`, `.io`, `.busy`.
  public func sealing() throws(KeychainError) -> DeviceKeySealing? {
    var status = stat()
    if stat(folder, &status) != 0, errno == ENOENT { return nil }
    let folder = try StoreFolder(path: folder, create: false)
    return try folder.hasPlainFile(name) ? stored(in: folder).sealing : nil
  }

  private func stored(
    in folder: StoreFolder
  ) throws(KeychainError) -> (sealing: DeviceKeySealing, sealed: [UInt8]) {
    let bytes = try folder.read(name, limit: Self.sealedBytes)
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    guard line.count < bytes.count, let text = String(validating: line, as: UTF8.self), text.hasPrefix(Self.header),
      let sealing = DeviceKeySealing(rawValue: String(text.dropFirst(Self.header.count)))
    else { throw .corrupt("the device key \(path)") }
    return (sealing, Array(bytes[(line.count + 1)...]))
  }

  private func make(in folder: StoreFolder) throws(KeychainError) -> SecretBytes {
    let sealing: DeviceKeySealing = try hasTPM2() ? .hostAndTPM2 : .host
    let key = try Sealing.newKey()
    // Bound to this TPM, not to a firmware state: systemd's default (PCR 7) would lose every item with a change of
    // Secure Boot until somebody finds his recovery key. PCR 16 stays as it is (tried with swtpm; an empty list makes
    // systemd 252 unable to open what it sealed).
    let binding = sealing == .hostAndTPM2 ? ["--tpm2-pcrs=16"] + device : []
    let result = try run(
      ["--with-key=\(sealing.rawValue)", "--name=\(sealing.credentialName)"] + binding + ["encrypt", "-", "-"], key)
    guard result.status == 0, result.output.count > 0 else {
      throw .deviceKey("the device key could not be sealed (\(complaint(result.complaint))); \(remedy)")
    }
    let sealed = result.output.withUnsafeBytes { Array($0) }
    // Only a key that comes back the same is worth keeping anything under.
    guard SecretBytes.constantTimeEqual(try unseal(sealed, sealing), key) else {
      throw .deviceKey("the device key did not come back the same from \(program); \(remedy)")
    }
    let draft = name + ".new"
    folder.remove(draft)
    do throws(KeychainError) {
      try folder.write(Array("\(Self.header)\(sealing.rawValue)\n".utf8) + sealed, to: draft)
      try folder.publish(draft, as: name)
    } catch {
      folder.remove(draft)
      throw error
    }
    return key
  }

  private func unseal(_ sealed: [UInt8], _ sealing: DeviceKeySealing) throws(KeychainError) -> SecretBytes {
    let input = try guarded { () throws(SecretMemoryError) in
      try SecretBytes(copying: sealed.span.bytes)
    }
    let from = sealing == .hostAndTPM2 ? device : []
    let result = try run(["--name=\(sealing.credentialName)"] + from + ["decrypt", "-", "-"], input)
    guard result.status == 0, result.output.count == Sealing.keyBytes else {
      throw .deviceKey(
        """
        the device key \(path) could not be opened\(sealing == .hostAndTPM2 ? " with this machine's TPM" : "") (\
        \(complaint(result.complaint))); it was left as it is: restore it, or systemd's host key, from a backup, or \
        bring your secrets back with: whorl recover
        """)
    }
    return try guarded { () throws(SecretMemoryError) in try result.output.clone() }
  }

  /// Whether the machine's TPM2 can be used; never asked in private mode.
  private func hasTPM2() throws(KeychainError) -> Bool {
    if tpm2Device != nil { return true }
    guard credentialSecret == nil else { return false }
    let nothing = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: 0) }
    return try run(["has-tpm2", "--quiet"], nothing).status == 0
  }

  private func run(_ arguments: [String], _ input: borrowing SecretBytes) throws(KeychainError) -> ChildProgram.Result {
    var environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
    if let credentialSecret { environment.append("SYSTEMD_CREDENTIAL_SECRET=\(credentialSecret)") }
    return try ChildProgram.run(
      program, arguments, environment: environment, input: input, limit: Self.sealedBytes, seconds: secondsToWait)
  }

  private var device: [String] { tpm2Device.map { ["--tpm2-device=\($0)"] } ?? [] }

  private func complaint(_ line: String) -> String { line.isEmpty ? "\(program) failed" : line }

  private var remedy: String {
    geteuid() == 0 || credentialSecret != nil
      ? "check systemd-creds and the disk" : "systemd's host key is root's: run as root, or in private mode"
  }
}
