import Bus
import GLibLoop
import TestKit
import Testing

@testable import WhorlClient

@Suite struct FprintTests {
  static let first = "/net/reactivated/Fprint/Device/0"
  static let second = "/net/reactivated/Fprint/Device/1"

  @Test func `readers are listed with the default one first, and described`() async throws {
    try await withScene([
      "GetDevices": { _ in BusAnswer([.array(element: "o", [.objectPath(Self.first), .objectPath(Self.second)])]) },
      "GetDefaultDevice": { _ in BusAnswer([.objectPath(Self.second)]) },
    ]) { scene in
      let devices = try await scene.fprint.devices()
      #expect(devices.map(\.path) == [Self.second, Self.first])
      scene.daemon.properties = [
        "name": .string("A\treader"), "scan-type": .string("swipe"), "num-enroll-stages": .int32(-1),
      ]
      let unclaimed = try await devices[0].properties()
      #expect(unclaimed == FprintDeviceDescription(name: "A reader", scanType: "swipe", enrollStages: nil))
      scene.daemon.properties["num-enroll-stages"] = .int32(5)
      #expect(try await devices[0].properties().enrollStages == 5)
      scene.daemon.properties["num-enroll-stages"] = .int32(.max)
      #expect(try await scene.fprint.device(at: Self.first).properties().enrollStages == nil)
    }
  }

  @Test func `no reader and no finger are empty lists`() async throws {
    try await withScene([
      "GetDevices": { _ in BusAnswer([.array(element: "o", [])]) },
      "GetDefaultDevice": { _ in throw BusMethodError(name: "net.reactivated.Fprint.Error.NoSuchDevice", message: "") },
      "ListEnrolledFingers": { call in
        if call.arguments == [.string("ada")] { return BusAnswer([.strings(["left-thumb"])]) }
        throw BusMethodError(name: "net.reactivated.Fprint.Error.NoEnrolledPrints", message: "")
      },
    ]) { scene in
      let devices = try await scene.fprint.devices()
      let first = try await scene.fprint.defaultDevice()
      #expect(devices.isEmpty && first == nil)
      let device = scene.fprint.device(at: Self.first)
      #expect(try await device.listEnrolledFingers() == [])
      #expect(try await device.listEnrolledFingers(of: "ada") == ["left-thumb"])
    }
  }

  @Test func `claim, release and delete go to the reader, and polkit may ask`() async throws {
    let nothing: Answer = { call in
      #expect(call.interactiveAuthorizationAllowed)
      return BusAnswer()
    }
    try await withScene([
      "Claim": nothing, "Release": nothing, "DeleteEnrolledFinger": nothing, "DeleteEnrolledFingers2": nothing,
    ]) { scene in
      let device = scene.fprint.device(at: Self.second)
      try await device.claim(for: "ada")
      try await device.deleteEnrolledFinger("left-thumb")
      try await device.deleteAllEnrolledFingers()
      try await device.release()
      #expect(scene.daemon.calls.allSatisfy { $0.path == Self.second })
      #expect(
        scene.daemon.calls.map(\.method) == ["Claim", "DeleteEnrolledFinger", "DeleteEnrolledFingers2", "Release"])
      #expect(scene.daemon.calls[0].arguments == [.string("ada")])
    }
  }

  @Test func `fprintd in whorld's place is refused where whorld is wanted, and named where whorld cannot start`()
    async throws
  {
    try await withScene(["GetDevices": { _ in BusAnswer([.array(element: "o", [])]) }]) { scene in
      scene.daemon.answers["GetDefaultDevice"] = { _ in
        throw BusMethodError(name: "net.reactivated.Fprint.Error.NoSuchDevice", message: "")
      }
      let picky = FprintClient(address: scene.bus.address, mustBeWhorld: true)
      #expect(try await picky.devices().isEmpty)
      // As with fprintd: its own name has an owner, whorld's has none.
      try await scene.daemon.bus.releaseName("org.whorl")
      let refused = FprintClient(address: scene.bus.address, mustBeWhorld: true)
      let refusal = await code { () throws(WhorlError) in _ = try await refused.devices() }
      #expect(refusal == .otherDaemon)
      #expect(try await scene.fprint.devices().isEmpty, "who takes either")
      let absence = await code { () throws(WhorlError) in _ = try await scene.client.status() }
      #expect(absence == .otherDaemon)
    }
  }

  @Test func `who waits for polkit's dialog is told, and by the daemon alone`() async throws {
    try await withScene([:]) { scene in
      scene.daemon.answers["Claim"] = { [unowned daemon = scene.daemon] call in
        try daemon.progress(call, .uint64(1), "authorizing")
        try daemon.progress(call, .uint64(0), "queued")
        try daemon.progress(call, .uint64(0), "authorizing", ["action": .string("net.\u{1B}example")])
        return BusAnswer()
      }
      var heard: [String] = []
      scene.fprint.onAuthorizing = { heard.append($0) }
      try await scene.fprint.device(at: Self.first).claim()
      #expect(heard == ["net. example"])
    }
  }

  @Test func `whether polkit is there is asked of the bus`() async throws {
    try await withScene([:]) { scene in
      #expect(await !scene.fprint.hasPolkit())
      try await scene.daemon.bus.requestName("org.freedesktop.PolicyKit1")
      #expect(await scene.fprint.hasPolkit())
    }
  }

  @Test func `why an enrolment was refused is asked on the connection that enrolled, and fprintd's silence is none`()
    async throws
  {
    try await withScene([
      "Claim": { _ in BusAnswer() }, "ExplainEnrollment": { _ in BusAnswer([.string("This finger\tis enrolled.")]) },
    ]) { scene in
      let device = scene.fprint.device(at: Self.first)
      try await device.claim()
      #expect(await device.explainEnrollment() == "This finger is enrolled.")
      #expect(Set(scene.daemon.calls.map(\.sender)).count == 1)
      scene.daemon.answers["ExplainEnrollment"] = nil
      #expect(await device.explainEnrollment().isEmpty)
    }
  }

  @Test func `an enrolment reports each status to the last, then stops`() async throws {
    try await withScene(["EnrollStop": { _ in BusAnswer() }]) { scene in
      scene.daemon.answers["EnrollStart"] = { [unowned daemon = scene.daemon] call in
        #expect(call.arguments == [.string("left-thumb")] && call.interactiveAuthorizationAllowed)
        try daemon.scanStatus(call, "Enroll", "enroll-stage-passed", done: false)
        try daemon.scanStatus(call, "Enroll", "enroll-failed", done: true, path: Self.second)
        try daemon.scanStatus(call, "Verify", "verify-match", done: true)
        try daemon.scanStatus(call, "Enroll", "enroll-retry-scan", done: false)
        try daemon.scanStatus(call, "Enroll", "enroll-completed", done: true)
        return BusAnswer()
      }
      let device = scene.fprint.device(at: Self.first)
      let expected = [
        FprintScanStatus(word: "enroll-stage-passed", done: false),
        FprintScanStatus(word: "enroll-retry-scan", done: false),
        FprintScanStatus(word: "enroll-completed", done: true),
      ]
      var heard: [FprintScanStatus] = []
      let last = try await device.enroll("left-thumb") { heard.append($0) }
      #expect(heard == expected && last == expected[2])
      #expect(scene.daemon.called("EnrollStop").count == 1)

      var streamed: [FprintScanStatus] = []
      for try await status in device.enrollStatuses("left-thumb") { streamed.append(status) }
      #expect(streamed == expected)
      #expect(scene.daemon.called("EnrollStop").count == 2)
    }
  }

  @Test func `a verification gives its verdict and stops`() async throws {
    try await withScene(["VerifyStop": { _ in BusAnswer() }]) { scene in
      scene.daemon.answers["VerifyStart"] = { [unowned daemon = scene.daemon] call in
        #expect(call.arguments == [.string("any")])
        try daemon.scanStatus(call, "Verify", "verify-no-match", done: true)
        return BusAnswer()
      }
      let last = try await scene.fprint.device(at: Self.first).verify { _ in }
      #expect(last == FprintScanStatus(word: "verify-no-match", done: true))
      #expect(scene.daemon.called("VerifyStop").count == 1)
    }
  }

  @Test func `a refused start is thrown, by call and by stream`() async throws {
    try await withScene([
      "EnrollStart": { _ in throw BusMethodError(name: "net.reactivated.Fprint.Error.PermissionDenied", message: "no") }
    ]) { scene in
      let device = scene.fprint.device(at: Self.first)
      let direct = await code { () throws(WhorlError) in _ = try await device.enroll("left-thumb") { _ in } }
      #expect(direct == .fprint(.permissionDenied))
      await #expect(throws: WhorlError(.fprint(.permissionDenied), "no")) {
        for try await _ in device.enrollStatuses("left-thumb") {}
      }
    }
  }

  @Test func `cancelling an enrolment stops it in the daemon before the client returns`() async throws {
    let started = Gate()
    let stopped = Gate()
    try await withScene([
      "EnrollStart": { _ in
        started.open()
        return BusAnswer()
      },
      "EnrollStop": { _ in
        stopped.open()
        return BusAnswer()
      },
    ]) { scene in
      let device = scene.fprint.device(at: Self.first)
      let task = Task { @GLibActor in
        await code { () throws(WhorlError) in _ = try await device.enroll("left-thumb") { _ in } }
      }
      await started.wait()
      task.cancel()
      #expect(await task.value == .cancelled)
      #expect(stopped.isOpen)
    }
  }

  @Test func `a stream that is let go stops its enrolment`() async throws {
    let stopped = Gate()
    try await withScene([
      "EnrollStop": { _ in
        stopped.open()
        return BusAnswer()
      }
    ]) { scene in
      scene.daemon.answers["EnrollStart"] = { [unowned daemon = scene.daemon] call in
        try daemon.scanStatus(call, "Enroll", "enroll-stage-passed", done: false)
        return BusAnswer()
      }
      for try await _ in scene.fprint.device(at: Self.first).enrollStatuses("left-thumb") { break }
      await stopped.wait()
    }
  }

  @Test func `a daemon that dies in mid-enrolment ends it`() async throws {
    try await withScene { scene in
      scene.daemon.answers["EnrollStart"] = { [unowned daemon = scene.daemon] call in
        try daemon.scanStatus(call, "Enroll", "enroll-stage-passed", done: false)
        return BusAnswer()
      }
      let error = await code { () throws(WhorlError) in
        _ = try await scene.fprint.device(at: Self.first).enroll("left-thumb") { _ in scene.daemon.crash() }
      }
      #expect(error == .disconnected)
    }
  }
}
