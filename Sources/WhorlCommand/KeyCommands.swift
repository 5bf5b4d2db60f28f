import GLibLoop
import SecretMemory
import WhorlClient

extension Commands {
  /// The most bytes that `key sign` takes: a mebibyte, as the daemon.
  static let signatureLimit = 1 << 20

  func perform(_ invocation: KeyInvocation) async throws(CommandFailure) {
    switch invocation {
    case .generate(let name, let kind, let requirement, let accessible):
      try await generateKey(name, kind, requirement, accessible)
    case .list: try await listKeys()
    case .publicKey(let name, let raw): try await printPublicKey(of: name, raw: raw)
    case .sign(let name, let hash, let isDigest): try await sign(with: name, hash, isDigest: isDigest)
    case .delete(let name): try await deleteKey(name)
    }
  }

  private func generateKey(
    _ name: String, _ kind: KeyKind, _ requirement: Requirement, _ accessible: Accessibility
  ) async throws(CommandFailure) {
    let subject = Escaping.quoted(name)
    if let existing = try await key(named: name) {
      let state = existing.isGone ? "is gone, but not deleted" : "exists"
      throw CommandFailure(
        .failed,
        "a key of the name \(subject) \(state); delete it first: whorl key delete \(Escaping.operand(name))")
    }
    try await checkFingers(requirement, subject, then: "generate it")
    let publicKey: [UInt8]
    do throws(WhorlError) {
      publicKey = try await service.generateKey(
        name: name, kind: kind, requirement: requirement, accessible: accessible)
    } catch { throw await secretFailure(error, subject) }
    try await console.print(Base64.pem(kind, publicKey))
  }

  private func listKeys() async throws(CommandFailure) {
    let keys: [KeyListing]
    do throws(WhorlError) { keys = try await service.keys(named: nil) } catch {
      throw await secretFailure(error, "the keys")
    }
    if isJSON {
      var list = JSONList(console)
      for key in keys {
        try await list.add(
          .object(
            [
              .init("name", .text(key.name)),
              .init("type", .text(KeyKind(busName: key.type)?.rawValue ?? key.type)),
            ] + Self.guards(key.constraints, key.protection, isGone: key.isGone)))
      }
      return try await list.end()
    }
    for key in keys {
      let requirement = Requirement(constraints: key.constraints)?.rawValue
      let words = requirement ?? Escaping.shown(key.constraints.joined(separator: "+"), limit: 64)
      let type = KeyKind(busName: key.type)?.rawValue ?? Escaping.shown(key.type, limit: 64)
      try await console.print(
        "\(Escaping.shown(key.name, limit: 4096))\t\(type)\t\(words)\(Self.shown(key.protection, isGone: key.isGone))")
    }
  }

  private func printPublicKey(of name: String, raw: Bool) async throws(CommandFailure) {
    let key = try await presentKey(named: name)
    guard !key.publicKey.isEmpty else {
      throw CommandFailure(.failed, "\(Escaping.quoted(name)) has no public key; delete it and generate it again")
    }
    if raw { return try await emit(key.publicKey) }
    guard let kind = KeyKind(busName: key.type) else {
      throw CommandFailure(
        .failed, "\(Escaping.quoted(name)) is of a type that this version does not know; take its bytes with --raw")
    }
    try await console.print(Base64.pem(kind, key.publicKey))
  }

  private func sign(with name: String, _ hash: SignatureHash?, isDigest: Bool) async throws(CommandFailure) {
    let subject = Escaping.quoted(name)
    let key = try await presentKey(named: name)
    let algorithm = try algorithm(of: key, hash, isDigest: isDigest)
    let input = try await console.readInput(limit: Self.signatureLimit)
    if isDigest, input.count != (hash ?? .sha256).bytes {
      throw CommandFailure(
        .failed,
        "standard input has \(input.count) bytes and \((hash ?? .sha256).rawValue) has \((hash ?? .sha256).bytes); "
          + "give the digest's bytes, not its digits")
    }
    let data = input.withUnsafeBytes { Array($0) }
    let item = ItemListing(
      name: key.name, constraints: key.constraints, isGone: false, protection: key.protection)
    let authorization = try await Authorization.open(
      item, deed: "sign with", noun: "key", console, service, explain: { await secretFailure($0, $1) })
    let signature: [UInt8]
    do throws(CommandFailure) {
      signature = try await authorization.run { context, reason, progress throws(WhorlError) in
        try await service.sign(
          data, with: name, by: algorithm, in: context, reason: reason, progress: progress)
      }
    } catch {
      await authorization.close()
      throw error
    }
    await authorization.close()
    guard !signature.isEmpty else { throw failure(WhorlError(.badAnswer, ""), subject) }
    try await emit(signature)
  }

  private func deleteKey(_ name: String) async throws(CommandFailure) {
    do throws(WhorlError) { try await service.removeKey(name: name) } catch {
      if error.code == .itemNotFound { throw noSuchKey(name) }
      throw await secretFailure(error, Escaping.quoted(name))
    }
  }

  // MARK: - Parts

  private func key(named name: String) async throws(CommandFailure) -> KeyListing? {
    do throws(WhorlError) {
      let found = try await service.keys(named: name)
      return found.first { !$0.isGone } ?? found.first
    } catch { throw await secretFailure(error, Escaping.quoted(name)) }
  }

  private func presentKey(named name: String) async throws(CommandFailure) -> KeyListing {
    guard let key = try await key(named: name) else { throw noSuchKey(name) }
    guard !key.isGone else {
      throw CommandFailure(
        .gone,
        "the key \(Escaping.quoted(name)) is gone for good, for the enrolled fingers changed or your login password was "
          + "removed; delete it and generate "
          + "another: whorl key delete \(Escaping.operand(name))")
    }
    return key
  }

  private func noSuchKey(_ name: String) -> CommandFailure {
    CommandFailure(
      .notFound,
      "no key\(invoker == nil ? "" : " of root") is called \(Escaping.quoted(name)); "
        + (invoker == nil ? "whorl key list shows the names" : "without sudo it is about your own"))
  }

  private func algorithm(
    of key: KeyListing, _ hash: SignatureHash?, isDigest: Bool
  ) throws(CommandFailure) -> WhorlSignatureAlgorithm {
    switch KeyKind(busName: key.type) {
    case .ed25519:
      guard hash == nil, !isDigest else {
        throw CommandFailure(
          .usage,
          "\(Escaping.quoted(key.name)) is of type ed25519, which signs the data itself; leave out "
            + (isDigest ? "--digest" : "--hash"))
      }
      return .ed25519
    case .p256:
      switch (hash ?? .sha256, isDigest) {
      case (.sha256, false): return .ecdsaSHA256
      case (.sha384, false): return .ecdsaSHA384
      case (.sha512, false): return .ecdsaSHA512
      case (.sha256, true): return .ecdsaDigestSHA256
      case (.sha384, true): return .ecdsaDigestSHA384
      case (.sha512, true): return .ecdsaDigestSHA512
      }
    case nil:
      throw CommandFailure(
        .failed,
        "\(Escaping.quoted(key.name)) is of the type \(Escaping.quoted(key.type)), which this version does not know; "
          + "whorl and whorld must be of one version")
    }
  }

  /// The bytes on standard output; as base64 where a terminal would take them for something else.
  private func emit(_ bytes: [UInt8]) async throws(CommandFailure) {
    if console.outputIsTerminal { return try await console.print(Base64.text(bytes)) }
    let copy: SecretBytes
    do throws(SecretMemoryError) { copy = try SecretBytes(copying: bytes.span.bytes) } catch {
      throw CommandFailure(.failed, error.description)
    }
    try await console.emit(copy)
  }
}
