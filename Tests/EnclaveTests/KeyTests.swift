import KeyPairs
import Keychain
import SecretMemory
import Testing

@testable import Enclave

/// Private keys: used where their constraints are satisfied, and given to nobody.
@Suite(.timeLimit(.minutes(1))) struct KeyTests {
  private static let tag = Array("tag".utf8)

  private func attributes(_ type: KeyType, tag: [UInt8] = tag) -> ItemAttributes {
    var attributes = ItemAttributes(itemClass: .key)
    attributes.keyType = type
    attributes.applicationTag = tag
    attributes.label = "login"
    return attributes
  }

  private func query(_ tag: [UInt8] = tag) -> ItemQuery {
    var query = ItemQuery(itemClass: .key)
    query.applicationTag = tag
    return query
  }

  /// A key of alice's, and its public half.
  private func generate(
    _ bench: Bench, _ type: KeyType = .ed25519, _ constraint: Constraint?, tag: [UInt8] = tag
  ) async throws -> PublicKey {
    let control = try AccessControl(constraints: [.privateKeyUsage] + (constraint.map { [$0] } ?? []))
    let bytes = try await bench.enclave.generateKey(
      user: Bench.alice, attributes: attributes(type, tag: tag), accessControl: control)
    return try PublicKey(KeyPairType(type), bytes: bytes)
  }

  private func signing(
    _ bench: Bench, in context: ContextID, by algorithm: SignatureAlgorithm = .ed25519,
    _ data: [UInt8] = [1, 2, 3]
  ) -> Task<[UInt8], any Error> {
    let query = query()
    return Task {
      try await bench.enclave.sign(context, owner: .alice, query: query, algorithm: algorithm, data: data)
    }
  }

  private func error(_ task: Task<[UInt8], any Error>) async -> EnclaveError? {
    await enclaveError { _ = try await task.value }
  }

  @Test(arguments: [
    (KeyType.ed25519, SignatureAlgorithm.ed25519), (.ecP256, .ecdsaSHA256), (.ecP256, .ecdsaSHA512),
  ])
  func `a key without constraints signs at once, and its attributes say what it is`(
    type: KeyType, algorithm: SignatureAlgorithm
  ) async throws {
    let bench = try Bench()
    let publicKey = try await generate(bench, type, nil)
    let signature = try await signing(bench, in: try await bench.context(), by: algorithm).value
    #expect(try publicKey.verify(signature, of: [1, 2, 3], by: algorithm))
    let found = try await bench.enclave.copyMatching(user: Bench.alice, query: query())
    let attributes = try #require(found.first?.item.attributes)
    #expect(found.count == 1)
    #expect(attributes.generic == publicKey.bytes)
    #expect(attributes.applicationLabel == (try publicKey.applicationLabel()))
    #expect(attributes.keyRole == .private && attributes.keyType == type && attributes.label == "login")
    #expect(attributes.keySizeInBits == 256 && attributes.effectiveKeySize == 256)
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test(arguments: [Constraint.biometryAny, .biometryCurrentSet, .userPresence])
  func `no touch, no signature; the right finger signs once, another one not`(constraint: Constraint) async throws {
    let bench = try Bench()
    try await bench.enrol()
    let publicKey = try await generate(bench, .ed25519, constraint)
    let context = try await bench.context()
    let wrong = signing(bench, in: context)
    for press in 1...3 {
      try await bench.sensor.armed(press)
      bench.sensor.pressWrong()
    }
    #expect(await error(wrong)?.busName == "org.whorl.Error.AuthenticationFailed", "a wrong finger signed")

    let right = signing(bench, in: context)
    try await bench.sensor.armed(4)
    bench.sensor.press(.index)
    #expect(try publicKey.verify(try await right.value, of: [1, 2, 3], by: .ed25519))

    // The touch was for that one signature.
    let next = signing(bench, in: context)
    try await bench.sensor.armed(5)
    try await bench.enclave.cancel(context, owner: .alice, how: .user)
    #expect(await error(next) == .userCancel)
    await bench.expectIdle()
  }

  @Test func `the reuse time and the passcode count as for secrets`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    let publicKey = try await generate(bench, .ecP256, .biometryAny)
    let reusing = try await bench.context(reuse: 10)
    let first = signing(bench, in: reusing, by: .ecdsaSHA256)
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    _ = try await first.value
    let covered = try await signing(bench, in: reusing, by: .ecdsaSHA256, [4]).value
    #expect(try publicKey.verify(covered, of: [4], by: .ecdsaSHA256))
    #expect(bench.sensor.armings.events.count == 1)

    let other = Array("other".utf8)
    _ = try await generate(bench, .ed25519, .devicePasscode, tag: other)
    let context = try await bench.context()
    func sign() async throws -> [UInt8] {
      try await bench.enclave.sign(
        context, owner: .alice, query: query(other), algorithm: .ed25519, data: [])
    }
    #expect(await enclaveError { _ = try await sign() } == .passcodeNeeded(.required))
    try await bench.givePasscode(to: context)
    #expect(try await sign().count == 64)
    #expect(await enclaveError { _ = try await sign() } == .passcodeNeeded(.required))
  }

  @Test func `a key of today's fingers is gone once a finger is enrolled`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    _ = try await generate(bench, .ed25519, .biometryCurrentSet)
    try await bench.enrol(.middle)
    let context = try await bench.context()
    #expect(
      await error(signing(bench, in: context))?.busName == "org.whorl.Error.ItemInvalidated",
      "a key outlived the fingers it was bound to")
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test func `two keys come to one secret, after the finger of each`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    let mine = try await generate(bench, .ecP256, .biometryAny)
    let theirs = try PrivateKey.generate(.p256)
    let context = try await bench.context()
    let query = query()
    let peer = theirs.publicKey.bytes
    let agreeing = Task {
      try await bench.enclave.agree(context, owner: .alice, query: query, algorithm: .ecdh, peer: peer)
        .withUnsafeBytes { Array($0) }
    }
    try await bench.sensor.armed(1)
    bench.sensor.press(.index)
    let expected = try theirs.sharedSecret(with: mine).withUnsafeBytes { Array($0) }
    #expect(try await agreeing.value == expected)
  }

  @Test func `what cannot be done with a key is refused before anybody is prompted`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    _ = try await generate(bench, .ecP256, .biometryAny)
    let context = try await bench.context()
    for (algorithm, count) in [(SignatureAlgorithm.ed25519, 3), (.ecdsaDigestSHA256, 31), (.ecdsaDigestSHA512, 32)] {
      let data = [UInt8](repeating: 0, count: count)
      #expect(
        await error(signing(bench, in: context, by: algorithm, data))?.busName == "org.whorl.Error.Param",
        "\(algorithm) over \(count) bytes")
    }
    let offCurve = [4] + [UInt8](repeating: 1, count: 64)
    for peer in [offCurve, [], [UInt8](repeating: 0, count: 32)] {
      let error = await enclaveError {
        _ = try await bench.enclave.agree(context, owner: .alice, query: query(), algorithm: .ecdh, peer: peer)
      }
      #expect(error?.busName == "org.whorl.Error.Param", "agreed with \(peer)")
    }
    let other = Array("other".utf8)
    _ = try await generate(bench, .ed25519, .biometryAny, tag: other)
    let unsupported = await enclaveError {
      let point = try PrivateKey.generate(.p256).publicKey.bytes
      _ = try await bench.enclave.agree(context, owner: .alice, query: query(other), algorithm: .ecdh, peer: point)
    }
    #expect(unsupported == .keychain(.unsupported("key agreement with a key of type ed25519")))
    #expect(bench.sensor.armings.events.isEmpty)
  }

  @Test(arguments: [Constraint?.none, .biometryAny])
  func `the private half is given to nobody, and no other takes its place`(constraint: Constraint?) async throws {
    let bench = try Bench()
    try await bench.enrol()
    let publicKey = try await generate(bench, .ed25519, constraint)
    let context = try await bench.context(reuse: 300)
    let denied = await enclaveError {
      _ = try await bench.enclave.copySecret(context, owner: .alice, query: query())
    }
    #expect(denied?.busName == "org.whorl.Error.Denied")
    #expect(denied?.message.contains("a private key never leaves the keychain") == true)

    var changes: [ItemQuery] = []
    func change(_ body: (inout ItemQuery) -> Void) {
      var query = ItemQuery()
      body(&query)
      changes.append(query)
    }
    change { $0.keyRole = .symmetric }
    change { $0.keyType = .ecP256 }
    change { $0.generic = [1] }
    change { $0.applicationLabel = [1] }
    change { $0.keySizeInBits = 128 }
    change { $0.effectiveKeySize = 128 }
    for changes in changes {
      let error = await enclaveError {
        try await bench.enclave.update(context, owner: .alice, query: query(), changes: changes)
      }
      #expect(error?.busName == "org.whorl.Error.Denied", "changed \(changes)")
    }
    let replaced = await enclaveError {
      try await bench.enclave.update(
        context, owner: .alice, query: query(), changes: ItemQuery(), secret: try SecretBytes.random(count: 32))
    }
    #expect(replaced?.busName == "org.whorl.Error.Denied", "another secret took its place")
    #expect(bench.sensor.armings.events.isEmpty)
    let found = try await bench.enclave.copyMatching(user: Bench.alice, query: query())
    #expect(found.first?.item.attributes.generic == publicKey.bytes)
  }

  @Test func `a key behind the program's own password signs with that password, and not without`() async throws {
    let bench = try Bench()
    let context = try await bench.context()
    try await bench.enclave.provideApplicationPassword(context, owner: .alice, password: secretBytes("of the app"))
    let bytes = try await bench.enclave.generateKey(
      user: Bench.alice, attributes: attributes(.ed25519),
      accessControl: try AccessControl(constraints: [.privateKeyUsage, .applicationPassword]),
      context: (context, .alice))
    let publicKey = try PublicKey(.ed25519, bytes: bytes)
    let signature = try await signing(bench, in: context).value
    #expect(try publicKey.verify(signature, of: [1, 2, 3], by: .ed25519))
    let other = try await bench.context()
    #expect(await error(signing(bench, in: other)) == .keychain(.applicationPasswordNeeded))
    try await bench.enclave.provideApplicationPassword(other, owner: .alice, password: secretBytes("wrong"))
    #expect(await error(signing(bench, in: other)) == .keychain(.wrongApplicationPassword))
  }

  @Test func `its label can be changed, and then it still signs`() async throws {
    let bench = try Bench()
    let publicKey = try await generate(bench, .ed25519, nil)
    let context = try await bench.context()
    try await bench.enclave.update(context, owner: .alice, query: query(), changes: ItemQuery(label: "new"))
    let signature = try await signing(bench, in: context).value
    #expect(try publicKey.verify(signature, of: [1, 2, 3], by: .ed25519))
  }

  @Test func `a key comes in with its own bytes, and never under another's attributes`() async throws {
    let bench = try Bench()
    let key = try PrivateKey.generate(.p256)
    let publicKey = key.publicKey
    let bytes = key.takeBytes()
    var attributes = attributes(.ecP256)
    attributes.keyRole = .private
    var others: [ItemAttributes] = []
    for body: (inout ItemAttributes) -> Void in [
      { $0.generic = [1] }, { $0.applicationLabel = [1] }, { $0.keySizeInBits = 384 }, { $0.keyType = nil },
    ] {
      others.append(attributes)
      body(&others[others.count - 1])
    }
    for attributes in others {
      let plain = bytes.withUnsafeBytes { Array($0) }
      let error = await enclaveError {
        try await bench.enclave.add(
          user: Bench.alice, attributes: attributes, accessControl: .unconstrained,
          secret: try SecretBytes(copying: plain.span.bytes))
      }
      #expect(error?.busName == "org.whorl.Error.Param", "added \(attributes)")
    }
    let zero = await enclaveError {
      try await bench.enclave.add(
        user: Bench.alice, attributes: attributes, accessControl: .unconstrained,
        secret: try SecretBytes(count: 32))
    }
    #expect(zero?.busName == "org.whorl.Error.Param", "zero is no private key")

    try await bench.enclave.add(
      user: Bench.alice, attributes: attributes, accessControl: .unconstrained, secret: bytes)
    let signature = try await signing(bench, in: try await bench.context(), by: .ecdsaSHA384).value
    #expect(try publicKey.verify(signature, of: [1, 2, 3], by: .ecdsaSHA384))
  }

  @Test func `only private keys sign: not secrets, not other users' keys, and not what a query names otherwise`()
    async throws
  {
    let bench = try Bench()
    _ = try await generate(bench, .ed25519, nil)
    try await bench.store("s3cret", as: "mail", nil)
    let context = try await bench.context()
    func sign(_ query: ItemQuery, _ context: ContextID, _ owner: ContextOwner) async -> EnclaveError? {
      await enclaveError {
        _ = try await bench.enclave.sign(context, owner: owner, query: query, algorithm: .ed25519, data: [])
      }
    }
    #expect(await sign(ItemQuery(service: "mail"), context, .alice) == .keychain(.itemNotFound))
    var symmetric = query()
    symmetric.keyRole = .symmetric
    for query in [ItemQuery(itemClass: .genericPassword), symmetric] {
      #expect(await sign(query, context, .alice)?.busName == "org.whorl.Error.Param", "signed with \(query)")
    }
    #expect(await sign(query(), context, .bob) == .invalidContext)
    let bobs = try await bench.context(of: .bob)
    #expect(await sign(query(), bobs, .bob) == .keychain(.itemNotFound))
  }

  @Test func `a key deleted while its touch is awaited signs nothing`() async throws {
    let bench = try Bench()
    try await bench.enrol()
    _ = try await generate(bench, .ed25519, .biometryAny)
    let task = signing(bench, in: try await bench.context())
    try await bench.sensor.armed(1)
    #expect(try await bench.enclave.delete(user: Bench.alice, query: query()) == 1)
    bench.sensor.press(.index)
    #expect(await error(task) == .keychain(.itemNotFound))
  }
}
