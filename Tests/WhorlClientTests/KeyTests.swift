import Bus
import GLibLoop
import SecretMemory
import Testing

@testable import WhorlClient

@Suite struct KeyTests {
  @Test func `a new key goes out with its type and comes back as its public half`() async throws {
    try await withScene(["GenerateKey": { _ in BusAnswer([.bytes([4, 5, 6])]) }]) { scene in
      var attributes = WhorlAttributes(label: "login")
      attributes.applicationTag = [1, 2]
      let publicKey = try await scene.client.generateKey(
        .p256, attributes: attributes,
        accessControl: WhorlAccessControl(protection: .whenUnlocked, constraints: [.privateKeyUsage, .biometryAny]))
      #expect(publicKey == [4, 5, 6])
      #expect(
        scene.daemon.calls.first?.arguments == [
          .options(["key-type": .string("ec-p256"), "application-tag": .bytes([1, 2]), "label": .string("login")]),
          .options([
            "constraints": .strings(["private-key-usage", "biometry-any"]), "protection": .string("when-unlocked"),
          ]),
        ])
    }
  }

  @Test func `a signature is asked for with its progress and comes back byte for byte`() async throws {
    try await withScene { scene in
      let context = WhorlContext(number: 7, daemon: scene.daemon.bus.uniqueName)
      scene.daemon.answers["Sign"] = { [daemon = scene.daemon] call in
        let options = call.arguments[4].asOptions
        try daemon.progress(call, options?["operation"], "waiting", ["reader": .string("Reader")])
        #expect(call.arguments[0] == .uint32(7))
        #expect(call.arguments[1] == .options(["class": .string("key"), "application-label": .bytes([9])]))
        #expect(call.arguments[2] == .string("ecdsa-sha384"))
        #expect(call.arguments[3] == .bytes([0, 1, 255]))
        #expect(options?["reason"] == .string("sign in") && options?["timeout"] == .uint32(9))
        return BusAnswer([.bytes([1, 0, 2])])
      }
      var query = WhorlAttributes(itemClass: "key")
      query.applicationLabel = [9]
      var seen: [WhorlProgress] = []
      let signature = try await scene.client.sign(
        [0, 1, 255], with: query, by: .ecdsaSHA384, in: context,
        prompt: WhorlPrompt(reason: "sign in", timeoutSeconds: 9)
      ) { seen.append($0) }
      #expect(signature == [1, 0, 2])
      #expect(seen == [.waiting(reader: "Reader", scanType: "", fingers: [])])
    }
  }

  @Test func `a shared secret comes as a sealed file, and a refusal as its error`() async throws {
    try await withScene { scene in
      let context = WhorlContext(number: 7, daemon: scene.daemon.bus.uniqueName)
      scene.daemon.answers["Agree"] = { call in
        #expect(call.arguments[2] == .string("ecdh"))
        guard call.arguments[3] == .bytes([4]) else { throw BusMethodError(name: "org.whorl.Error.Param", message: "") }
        return BusAnswer([.handle(0)], descriptors: [try SecretFile.seal(try secret([7, 8]), name: "test")])
      }
      let shared = try await scene.client.agree(
        with: [4], by: WhorlAttributes(), in: context, prompt: WhorlPrompt(reason: ""))
      #expect(bytes(shared) == [7, 8])
      #expect(
        await code { () throws(WhorlError) in
          _ = try await scene.client.agree(
            with: [5], by: WhorlAttributes(), in: context, prompt: WhorlPrompt(reason: ""))
        } == .param)
    }
  }

  @Test func `a key's attributes arrive whole`() async throws {
    try await withScene([
      "CopyMatching": { _ in
        BusAnswer([
          .array(
            element: "a{sv}",
            [
              .options([
                "class": .string("key"), "key-class": .string("private"), "key-type": .string("ed25519"),
                "application-label": .bytes([1]), "application-tag": .bytes([2]), "key-size": .uint32(256),
                "effective-key-size": .uint32(255), "generic": .bytes([3]),
              ])
            ])
        ])
      }
    ]) { scene in
      var expected = WhorlAttributes(itemClass: "key")
      expected.keyClass = "private"
      expected.keyType = "ed25519"
      expected.applicationLabel = [1]
      expected.applicationTag = [2]
      expected.keySize = 256
      expected.effectiveKeySize = 255
      expected.generic = [3]
      let found = try await scene.client.copyMatching(WhorlAttributes())
      #expect(found.map(\.attributes) == [expected])
    }
  }
}
