import Bus
import GLibLoop
import Glibc
import SecretMemory
import TestKit
import Testing

@testable import WhorlClient

@Suite struct ErrorTests {
  static let codes: [(String, WhorlError.Code)] = [
    ("AuthenticationFailed", .authenticationFailed), ("UserCancel", .userCancel), ("UserFallback", .userFallback),
    ("SystemCancel", .systemCancel), ("AppCancel", .appCancel), ("PasscodeNotSet", .passcodeNotSet),
    ("PasscodeNeeded", .passcodeNeeded), ("PasscodeDelayed", .passcodeDelayed),
    ("BiometryNotAvailable", .biometryNotAvailable), ("BiometryNotEnrolled", .biometryNotEnrolled),
    ("BiometryLockout", .biometryLockout), ("InvalidContext", .invalidContext), ("NotInteractive", .notInteractive),
    ("TimedOut", .timedOut), ("Busy", .busy), ("Denied", .denied), ("ItemNotFound", .itemNotFound),
    ("ItemInvalidated", .itemInvalidated), ("DuplicateItem", .duplicateItem), ("Param", .param),
    ("Unsupported", .unsupported), ("TooLarge", .tooLarge), ("StoreUnavailable", .storeUnavailable),
    ("StoreDamaged", .storeDamaged), ("StoreTooNew", .storeTooNew), ("NoSuchUser", .noSuchUser),
    ("ReaderFailed", .readerFailed), ("Failed", .failed),
  ]

  @Test func `every error of the daemon has its code, and others keep their names`() async throws {
    let others: [(String, WhorlError.Code)] =
      FprintErrorName.allCases.map { ("net.reactivated.Fprint.Error." + $0.rawValue, .fprint($0)) } + [
        ("org.whorl.Error.Newer", .unknown("org.whorl.Error.Newer")),
        ("org.example.Error.Failed", .unknown("org.example.Error.Failed")),
        ("org.freedesktop.DBus.Error.AccessDenied", .denied), ("org.freedesktop.DBus.Error.LimitsExceeded", .busy),
        ("org.freedesktop.DBus.Error.UnknownMethod", .unsupported),
      ]
    try await withScene { scene in
      for (name, expected) in Self.codes.map({ ("org.whorl.Error." + $0.0, $0.1) }) + others {
        scene.daemon.answers["GetStatus"] = { _ in throw BusMethodError(name: name, message: "Do this.\n\u{1B}[0m") }
        do throws(WhorlError) {
          _ = try await scene.client.status()
          Issue.record("no error for \(name)")
        } catch {
          #expect(error.code == expected)
          #expect(error.message.contains("Do this.  [0m") || expected == .unsupported)
        }
      }
    }
  }

  @Test func `no bus and no daemon are told as such`() async throws {
    GLibLoop.startThread()
    let noBus = await WhorlClient(transport: BusTransport(address: "unix:path=/nonexistent/bus"))
    #expect(await code { () throws(WhorlError) in _ = try await noBus.status() } == .noDaemon)
    let bus = try await PrivateBus()
    let noDaemon = await WhorlClient(transport: BusTransport(address: bus.address))
    #expect(await code { () throws(WhorlError) in _ = try await noDaemon.status() } == .noDaemon)
    let fprint = FprintClient(address: bus.address)
    #expect(await code { () throws(WhorlError) in _ = try await fprint.devices() } == .noDaemon)
  }

  @Test func `a daemon that cannot be started is no daemon`() async throws {
    GLibLoop.startThread()
    let bus = try await PrivateBus(activatable: ["org.whorl": "/bin/false"])
    let client = await WhorlClient(transport: BusTransport(address: bus.address))
    #expect(await code { () throws(WhorlError) in _ = try await client.status() } == .noDaemon)
  }

  @Test(.enabled(if: geteuid() == 0, "another user's program can only be started by root"))
  func `another user's program under the daemon's name is sent nothing`() async throws {
    GLibLoop.startThread()
    let bus = try await PrivateBus()
    let program = """
      import dbus, dbus.service, dbus.mainloop.glib, os, sys
      from gi.repository import GLib
      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      bus = dbus.bus.BusConnection(sys.argv[1])
      bus.add_message_filter(lambda c, m: print("asked", m.get_member(), flush=True) if m.get_type() == 1 else None)
      bus.request_name("org.whorl"); bus.request_name("net.reactivated.Fprint")
      print("ready", flush=True)
      GLib.MainLoop().run()
      """
    let impostor = try RunningProgram("/usr/bin/python3", ["-c", program, bus.address], user: 65_534)
    _ = try await impostor.waitFor("ready\n")
    let client = await WhorlClient(transport: BusTransport(address: bus.address))
    #expect(await code { () throws(WhorlError) in _ = try await client.status() } == .impostor)
    let passcode = await code { () throws(WhorlError) in
      let bytes: SecretBytes
      do { bytes = try secret([1]) } catch { throw WhorlError(.secretMemory, "\(error)") }
      try await client.providePasscode(bytes, to: context)
    }
    #expect(passcode == .impostor)
    let fprint = FprintClient(address: bus.address)
    #expect(await code { () throws(WhorlError) in _ = try await fprint.devices() } == .impostor)
    impostor.signal(SIGTERM)
    let result = try await impostor.wait()
    #expect(!result.text.contains("asked"))
  }

  @Test func `a daemon that dies in mid-request is told at once, and the next one is found`() async throws {
    let arrived = Gate()
    try await withScene([
      "EvaluatePolicy": { _ in
        arrived.open()
        await Gate().wait()
        return BusAnswer()
      },
      "GetStatus": { _ in BusAnswer([.options(["version": .string("old")])]) },
    ]) { scene in
      let context = WhorlContext(number: 7, daemon: scene.daemon.bus.uniqueName)
      let task = Task { @GLibActor in
        await code { () throws(WhorlError) in
          _ = try await scene.client.evaluate(.owner, in: context, prompt: WhorlPrompt(reason: ""))
        }
      }
      await arrived.wait()
      scene.daemon.crash()
      #expect(await task.value == .disconnected)
      #expect(await code { () throws(WhorlError) in _ = try await scene.client.status() } == .noDaemon)
      let next = try await FakeDaemon(
        address: scene.bus.address, ["GetStatus": { _ in BusAnswer([.options(["version": .string("new")])]) }])
      #expect(try await scene.client.status().version == "new")
      // Its contexts are not those of the old one.
      let old = await code { () throws(WhorlError) in try await scene.client.invalidate(context) }
      #expect(old == .invalidContext)
      #expect(next.called("InvalidateContext").isEmpty)
    }
  }

  @Test func `a daemon that was replaced between requests is no error`() async throws {
    try await withScene(["GetStatus": { _ in BusAnswer([.options(["version": .string("old")])]) }]) { scene in
      #expect(try await scene.client.status().version == "old")
      scene.daemon.crash()
      let next = try await FakeDaemon(
        address: scene.bus.address, ["GetStatus": { _ in BusAnswer([.options(["version": .string("new")])]) }])
      #expect(try await scene.client.status().version == "new")
      #expect(next.called("GetStatus").count == 1)
    }
  }

  @Test func `the bus going away is told, too`() async throws {
    let arrived = Gate()
    try await withScene([
      "GetStatus": { _ in
        arrived.open()
        await Gate().wait()
        return BusAnswer()
      }
    ]) { scene in
      let task = Task { @GLibActor in
        await code { () throws(WhorlError) in _ = try await scene.client.status() }
      }
      await arrived.wait()
      try await scene.bus.stop()
      #expect(await task.value == .disconnected)
      #expect(await code { () throws(WhorlError) in _ = try await scene.client.status() } == .noDaemon)
    }
  }

  @Test func `answers that make no sense are errors`() async throws {
    let twice = BusEntry(key: .string("service"), value: .variant(.string("s")))
    let double = BusValue.dictionary(key: "s", value: "v", [twice, twice])
    try await withScene([
      "GetStatus": { _ in BusAnswer([double]) },
      "CopyMatching": { _ in BusAnswer([.array(element: "a{sv}", [double])]) },
    ]) { scene in
      #expect(await code { () throws(WhorlError) in _ = try await scene.client.status() } == .badAnswer)
      let items = await code { () throws(WhorlError) in _ = try await scene.client.copyMatching(WhorlAttributes()) }
      #expect(items == .badAnswer)
    }
  }

  @Test func `only a sealed memory file is taken as a secret`() async throws {
    try await withScene { scene in
      let context = WhorlContext(number: 7, daemon: scene.daemon.bus.uniqueName)
      func copy() async -> WhorlError.Code? {
        await code { () throws(WhorlError) in
          _ = try await scene.client.copySecret(WhorlAttributes(), in: context, prompt: WhorlPrompt(reason: ""))
        }
      }
      scene.daemon.answers["CopySecret"] = { _ in
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        close(ends[1])
        return BusAnswer([.handle(0)], descriptors: [ends[0]])
      }
      #expect(await copy() == .badAnswer)
      scene.daemon.answers["CopySecret"] = { _ in
        BusAnswer([.handle(5)], descriptors: [try SecretFile.seal(secret([1]), name: "test")])
      }
      #expect(await copy() == .badAnswer)
      scene.daemon.answers["CopySecret"] = { _ in BusAnswer([.handle(0)], descriptors: [open("/dev/null", O_RDWR)]) }
      #expect(await copy() == .badAnswer)
    }
  }

  @Test func `what cannot be sent is named`() async throws {
    try await withScene { scene in
      let error = await code { () throws(WhorlError) in
        _ = try await scene.client.copyMatching(WhorlAttributes(service: "a\0b"))
      }
      #expect(error == .param)
    }
  }
}
