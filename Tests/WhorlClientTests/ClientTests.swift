import Bus
import GLibLoop
import Glibc
import SecretMemory
import TestKit
import Testing

@testable import WhorlClient

@Suite struct ClientTests {
  @Test func `the status arrives whole`() async throws {
    try await withScene([
      "GetStatus": { _ in
        BusAnswer([
          .options([
            "version": .string("1.2"), "private": .boolean(true), "device-key": .string("host+tpm2"),
            "readers": .array(
              element: "a{sv}",
              [
                .options([
                  "name": .string("Goodix"), "driver": .string("goodixmoc"), "scan-type": .string("press"),
                  "path": .objectPath("/net/reactivated/Fprint/Device/0"), "trusted": .boolean(true),
                ])
              ]),
            "enrolled": .strings(["left-thumb"]), "unreadable": .strings(["right-thumb"]),
            "unregistered": .strings([]), "biometry": .string("locked-out"), "misses": .uint32(5),
            "misses-allowed": .uint32(5), "passcode": .string("set"), "passcode-delay": .uint32(30),
            "something-newer": .int32(1),
          ])
        ])
      }
    ]) { scene in
      let status = try await scene.client.status()
      var expected = WhorlStatus()
      var reader = WhorlStatus.Reader()
      reader.name = "Goodix"
      reader.driver = "goodixmoc"
      reader.scanType = "press"
      reader.path = "/net/reactivated/Fprint/Device/0"
      reader.isTrusted = true
      expected.version = "1.2"
      expected.isPrivate = true
      expected.deviceKey = "host+tpm2"
      expected.readers = [reader]
      expected.enrolled = ["left-thumb"]
      expected.unreadable = ["right-thumb"]
      expected.biometry = "locked-out"
      expected.isLockedOut = true
      expected.misses = 5
      expected.missesAllowed = 5
      expected.passcode = "set"
      expected.passcodeDelay = 30
      #expect(status == expected)
    }
  }

  @Test func `a lockout is told whatever else is the matter with fingers`() async throws {
    try await withScene([
      "GetStatus": { _ in
        BusAnswer([.options(["biometry": .string("not-enrolled"), "locked-out": .boolean(true)])])
      }
    ]) { scene in
      let status = try await scene.client.status()
      #expect(status.isLockedOut)
    }
  }

  @Test func `what root asks of another account goes out by name or uid and comes back whole`() async throws {
    try await withScene([
      "GetAccountStatus": { _ in
        BusAnswer([
          .options([
            "account": .boolean(true), "former-name": .string("a\u{1B}da"), "locked-out": .boolean(true),
            "misses": .uint32(5), "misses-allowed": .uint32(5), "bound-secrets": .uint32(2),
          ])
        ])
      }
    ]) { scene in
      var expected = WhorlAccountStatus()
      expected.hasAccount = true
      expected.formerName = "a da"
      expected.isLockedOut = true
      expected.misses = 5
      expected.missesAllowed = 5
      expected.boundSecrets = 2
      #expect(try await scene.client.accountStatus(.name("paul")) == expected)
      _ = try await scene.client.accountStatus(.uid(7))
      let arguments = scene.daemon.called("GetAccountStatus").map(\.arguments)
      #expect(
        arguments == [
          [.string("paul"), .options([:])], [.string(""), .options(["uid": .uint32(7)])],
        ])
    }
  }

  @Test func `forgetting by name and by uid, and renaming, go to the daemon and come back whole`() async throws {
    try await withScene([
      "ForgetUser": { call in
        #expect(call.interactiveAuthorizationAllowed, "polkit may ask")
        return BusAnswer([
          .options([
            "items": .uint32(3), "keychains": .uint32(1), "unread-keychains": .uint32(1), "prints": .uint32(2),
            "chip-prints": .uint32(1), "remains": .strings(["a\tprint"]), "absent-readers": .strings(["goodixmoc/0"]),
          ])
        ])
      },
      "RenameUser": { _ in BusAnswer([.options(["keychain": .boolean(true)])]) },
    ]) { scene in
      var expected = WhorlForgotten()
      (expected.items, expected.keychains, expected.unreadKeychains) = (3, 1, 1)
      (expected.prints, expected.chipPrints) = (2, 1)
      expected.remains = ["a print"]
      expected.absentReaders = ["goodixmoc/0"]
      #expect(try await scene.client.forget(.name("1000")) == expected)
      _ = try await scene.client.forget(.uid(1000))
      let renamed = try await scene.client.renameUser(from: "CORP\\paul", to: "paul")
      #expect(renamed.keychain && !renamed.prints)
      #expect(
        scene.daemon.calls.map(\.arguments) == [
          [.string("1000"), .options([:])], [.string(""), .options(["uid": .uint32(1000)])],
          [.string("CORP\\paul"), .string("paul")],
        ])
    }
  }

  @Test func `what a status says of readers, chips and former accounts arrives`() async throws {
    try await withScene([
      "GetStatus": { _ in
        BusAnswer([
          .options([
            "readers": .array(
              element: "a{sv}",
              [
                .options([
                  "state": .string("blocked"), "state-detail": .string("why"), "enrolled": .strings(["left-thumb"]),
                  "chip-lost": .strings(["right-thumb"]), "chip-foreign": .uint32(4),
                ])
              ]),
            "unlisted": .array(
              element: "a{sv}",
              [.options(["usb-id": .string("04f3:0c4c"), "supported": .boolean(true), "node": .string("/dev/x")])]),
            "former-prints": .uint32(1007),
          ])
        ])
      }
    ]) { scene in
      let status = try await scene.client.status()
      #expect(status.readers.first?.state == "blocked" && status.readers.first?.stateDetail == "why")
      #expect(status.readers.first?.enrolled == ["left-thumb"] && status.readers.first?.chipLost == ["right-thumb"])
      #expect(status.readers.first?.chipForeign == 4)
      #expect(status.unlisted.first?.usbID == "04f3:0c4c" && status.unlisted.first?.isSupported == true)
      #expect(status.unlisted.first?.node == "/dev/x" && status.formerPrints == 1007)
    }
  }

  @Test func `a status with nothing or nonsense in it is no trap`() async throws {
    try await withScene([
      "GetStatus": { _ in
        BusAnswer([
          .options([
            "version": .uint32(1), "readers": .strings(["x"]), "misses": .string("many"),
            "biometry": .string("a\u{1B}[31m\nb\u{202E}"), "enrolled": .array(element: "i", [.int32(1)]),
          ])
        ])
      }
    ]) { scene in
      let status = try await scene.client.status()
      #expect(status.biometry == "a [31m b ")
      #expect(status.version == "" && status.readers == [] && status.misses == 0 && status.enrolled == [])
    }
  }

  @Test func `an evaluation reports its own progress in order, then what is satisfied`() async throws {
    try await withScene { scene in
      scene.daemon.answers["CreateContext"] = { call in
        #expect(
          call.arguments == [.options(["reuse-duration": .uint32(60), "interaction-not-allowed": .boolean(true)])])
        return BusAnswer([.uint32(7)])
      }
      scene.daemon.answers["EvaluatePolicy"] = { [unowned daemon = scene.daemon] call in
        #expect(call.arguments.prefix(3) == [.uint32(7), .string("owner"), .string("to test")])
        let options = call.arguments[3].asOptions ?? [:]
        #expect(options["timeout"] == .uint32(20) && options["max-tries"] == .uint32(2))
        let operation = options["operation"]
        try daemon.progress(call, operation, "queued")
        try daemon.progress(call, .uint64(999), "matched", ["finger": .string("another operation's")])
        try daemon.progress(
          call, operation, "waiting",
          ["reader": .string("R\n"), "scan-type": .string("press"), "fingers": .strings(["left-thumb"])])
        try daemon.progress(call, operation, "retry", ["reason": .string("too-short")])
        try daemon.progress(call, operation, "no-match", ["tries-left": .uint32(1)])
        try daemon.progress(call, operation, "news", [:])
        try daemon.progress(call, operation, "matched", ["finger": .string("left-thumb")])
        return BusAnswer([.strings(["biometry-any", "something-newer"])])
      }
      let context = try await scene.client.createContext(reuseSeconds: 60, interactionNotAllowed: true)
      #expect(context == WhorlContext(number: 7, daemon: scene.daemon.bus.uniqueName))
      var heard: [WhorlProgress] = []
      let satisfied = try await scene.client.evaluate(
        .owner, in: context, prompt: WhorlPrompt(reason: "to test", timeoutSeconds: 20, maxTries: 2)
      ) { heard.append($0) }
      #expect(
        heard == [
          .queued, .waiting(reader: "R ", scanType: "press", fingers: ["left-thumb"]), .retry(reason: "too-short"),
          .noMatch(triesLeft: 1), .other(event: "news"), .matched(finger: "left-thumb"),
        ])
      #expect(satisfied == [.biometryAny, WhorlConstraint(rawValue: "something-newer")])
    }
  }

  @Test func `cancelling the task cancels in the daemon, which is done when the client returns`() async throws {
    let arrived = Gate()
    let gate = Gate()
    let cancelled = Gate()
    try await withScene([
      "EvaluatePolicy": { _ in
        arrived.open()
        await gate.wait()
        throw BusMethodError(name: "org.whorl.Error.AppCancel", message: "cancelled")
      },
      "Cancel": { call in
        #expect(call.arguments == [.uint32(7), .string("app")])
        cancelled.open()
        gate.open()
        return BusAnswer()
      },
    ]) { scene in
      let context = WhorlContext(number: 7, daemon: scene.daemon.bus.uniqueName)
      let task = Task { @GLibActor in
        await code { () throws(WhorlError) in
          _ = try await scene.client.evaluate(.biometrics, in: context, prompt: WhorlPrompt(reason: ""))
        }
      }
      await arrived.wait()
      task.cancel()
      #expect(await task.value == .cancelled)
      #expect(cancelled.isOpen)
    }
  }

  @Test func `cancelling an authentication for PAM ends its connection, and the client goes on`() async throws {
    let arrived = Gate()
    let vanished = Gate()
    try await withScene(["GetStatus": { _ in BusAnswer([.options([:])]) }]) { scene in
      var watch: BusSubscription?
      scene.daemon.answers["Authenticate"] = { [unowned daemon = scene.daemon] call in
        watch = try daemon.bus.watchName(call.sender) { vanished.open() }
        arrived.open()
        await vanished.wait()
        return BusAnswer([.string("")])
      }
      _ = try await scene.client.status()
      let task = Task { @GLibActor in
        await code { () throws(WhorlError) in _ = try await scene.client.authenticate(user: "ada", service: "sudo") }
      }
      await arrived.wait()
      task.cancel()
      #expect(await task.value == .cancelled)
      await vanished.wait()
      _ = try await scene.client.status()
      let senders = Set(scene.daemon.called("GetStatus").map(\.sender))
      #expect(senders.count == 1)
      watch?.cancel()
    }
  }

  @Test func `secrets go both ways by descriptor alone`() async throws {
    let value: [UInt8] = [0, 1, 255, 0] + Array("Geheimnis".utf8)
    try await withScene([
      "ProvidePasscode": { call in
        let passcode = try received(call, call.arguments[1])
        #expect(passcode == Array("pass".utf8))
        return BusAnswer()
      },
      "Add": { call in
        #expect(
          call.arguments[0].asOptions == [
            "class": .string("generic-password"), "service": .string("s"), "account": .string("a"),
            "generic": .bytes([1, 0]), "invisible": .boolean(true), "creator": .uint32(9),
          ])
        #expect(
          call.arguments[1].asOptions == ["constraints": .strings(["user-presence"]), "protection": .string("always")])
        let secret = try received(call, call.arguments[2])
        #expect(secret == value)
        return BusAnswer()
      },
      "CopySecret": { call in
        #expect(call.arguments[0] == .uint32(7) && call.arguments[1].asOptions == ["service": .string("s")])
        #expect(call.arguments[2].asOptions?["reason"] == .string("to test"))
        return BusAnswer([.handle(0)], descriptors: [try SecretFile.seal(secret(value), name: "test")])
      },
      "Update": { call in
        guard let handles = call.arguments[3].asArray else { throw BusMethodError.failed("no list") }
        #expect(call.arguments[2].asOptions == (handles.isEmpty ? ["label": .string("l")] : [:]))
        if let handle = handles.first { #expect(try received(call, handle) == []) }
        #expect(call.descriptors.count == handles.count)
        return BusAnswer()
      },
    ]) { scene in
      let context = WhorlContext(number: 7, daemon: scene.daemon.bus.uniqueName)
      try await scene.client.providePasscode(secret(Array("pass".utf8)), to: context)
      var attributes = WhorlAttributes(service: "s", account: "a")
      attributes.generic = [1, 0]
      attributes.isInvisible = true
      attributes.creator = 9
      try await scene.client.add(
        attributes, accessControl: WhorlAccessControl(constraints: [.userPresence]), secret: secret(value))
      let copied = try await scene.client.copySecret(
        WhorlAttributes(service: "s"), in: context, prompt: WhorlPrompt(reason: "to test"))
      #expect(bytes(copied) == value)
      let query = WhorlAttributes(service: "s")
      try await scene.client.update(
        query, changes: WhorlAttributes(label: "l"), in: context, prompt: WhorlPrompt(reason: ""))
      try await scene.client.update(query, secret: secret([]), in: context, prompt: WhorlPrompt(reason: ""))
      #expect(scene.daemon.called("Update").count == 2)
    }
  }

  @Test func `items are listed and deleted`() async throws {
    try await withScene([
      "CopyMatching": { call in
        #expect(call.arguments[0].asOptions == ["service": .string("s"), "negative": .boolean(false)])
        guard call.arguments[1].asOptions == ["limit": .uint32(2), "invalidated": .boolean(true)] else {
          throw BusMethodError(name: "org.whorl.Error.ItemNotFound", message: "none")
        }
        return BusAnswer([
          .array(
            element: "a{sv}",
            [
              .options([
                "class": .string("generic-password"), "account": .string("a"), "created": .int64(1),
                "modified": .int64(2),
                "constraints": .strings(["biometry-current-set"]), "protection": .string("always"),
                "state": .string("invalidated"),
              ]), .options([:]),
            ])
        ])
      },
      "Delete": { call in
        BusAnswer([.uint32(call.arguments[1].asOptions == ["all": .boolean(true)] ? 3 : 1)])
      },
    ]) { scene in
      var query = WhorlAttributes(service: "s")
      query.isNegative = false
      var item = WhorlItem()
      item.attributes = WhorlAttributes(itemClass: "generic-password", account: "a")
      item.created = 1
      item.modified = 2
      item.constraints = [.biometryCurrentSet]
      item.protection = "always"
      item.isInvalidated = true
      let items = try await scene.client.copyMatching(query, limit: 2, includingInvalidated: true)
      #expect(items == [item, WhorlItem()])
      #expect(try await scene.client.copyMatching(query) == [])
      #expect(try await scene.client.delete(query) == 1)
      #expect(try await scene.client.delete(WhorlAttributes(), all: true) == 3)
    }
  }

  @Test func `authentication for PAM names the user and the service`() async throws {
    try await withScene([
      "Authenticate": { call in
        #expect(call.arguments.prefix(2) == [.string("ada"), .string("sudo")])
        #expect(call.arguments[2].asOptions?["no-wait"] == .boolean(true))
        return BusAnswer([.string("left-thumb")])
      },
      "InvalidateContext": { call in
        #expect(call.arguments == [.uint32(7)])
        return BusAnswer()
      },
      "Cancel": { call in
        #expect(call.arguments == [.uint32(7), .string("fallback")])
        return BusAnswer()
      },
    ]) { scene in
      #expect(try await scene.client.authenticate(user: "ada", service: "sudo", noWait: true) == "left-thumb")
      let context = WhorlContext(number: 7, daemon: scene.daemon.bus.uniqueName)
      try await scene.client.cancel(context, how: .fallback)
      try await scene.client.invalidate(context)
    }
  }
}
