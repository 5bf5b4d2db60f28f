import GLibLoop
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct CallTests {
  @Test func `a call reaches the handler and its answer comes back`() async throws {
    try await withScene([
      "Add": { BusAnswer([.int32(($0.arguments[0].asInt32 ?? 0) + ($0.arguments[1].asInt32 ?? 0))]) }
    ]) { scene in
      let reply = try await scene.call("Add", [.int32(40), .int32(2)])
      #expect(reply.arguments == [.int32(42)])
      #expect(reply.sender == scene.service.uniqueName)
    }
  }

  @Test func `the handler learns from the bus who calls, and whether polkit may ask`() async throws {
    try await withScene { scene in
      let plain = try await scene.call("Who")
      #expect(plain.arguments == [.string(scene.client.uniqueName), .boolean(false)])
      let interactive = try await scene.call("Who", options: .interactive)
      #expect(interactive.arguments == [.string(scene.client.uniqueName), .boolean(true)])
    }
  }

  @Test func `a handler's error arrives by its name and message`() async throws {
    try await withScene(["Fail": { _ in throw BusMethodError(name: "org.example.Error.Sad", message: "so sad") }]) {
      scene in
      let error = await busError { () throws(BusError) in try await scene.call("Fail", [.string("")]) }
      #expect(error == .remote(name: "org.example.Error.Sad", message: "so sad"))
    }
  }

  @Test func `an unknown error is told to nobody but our own log`() async throws {
    struct Secret: Error { let password = "hunter2" }
    try await withScene(["Fail": { _ in throw Secret() }]) { scene in
      var faults: [String] = []
      scene.service.onFault = { faults.append($0) }
      let error = await busError { () throws(BusError) in try await scene.call("Fail", [.string("")]) }
      #expect(error?.remoteName == "org.freedesktop.DBus.Error.Failed")
      #expect(error?.description.contains("hunter2") == false)
      #expect(faults.count == 1 && faults[0].contains("hunter2"))
    }
  }

  @Test(arguments: ["", "no dots", "org.example.Error.Bäd", "org.example\0.Error"])
  func `an error without a valid name is answered with Failed`(_ name: String) async throws {
    try await withScene(["Fail": { _ in throw BusMethodError(name: name, message: "x") }]) { scene in
      let error = await busError { () throws(BusError) in try await scene.call("Fail", [.string("")]) }
      #expect(error?.remoteName == "org.freedesktop.DBus.Error.Failed")
    }
  }

  @Test(
    arguments: [
      [], [.string("a"), .string("b")], [.int32(1)], [.int32(1), .int32(2), .int32(3)], [.int32(1), .uint32(2)],
    ] as [[BusValue]])
  func `wrong arguments never reach the handler`(_ arguments: [BusValue]) async throws {
    let reached = Gate()
    try await withScene([
      "Add": { _ in
        reached.open()
        return BusAnswer([.int32(0)])
      }
    ]) { scene in
      let error = await busError { () throws(BusError) in try await scene.call("Add", arguments) }
      #expect(error?.remoteName == "org.freedesktop.DBus.Error.InvalidArgs")
      #expect(!reached.isOpen)
    }
  }

  @Test func `what is not there is named as unknown`() async throws {
    try await withScene { scene in
      let method = await busError { () throws(BusError) in try await scene.call("Nothing") }
      #expect(method?.remoteName == "org.freedesktop.DBus.Error.UnknownMethod")
      let object = await busError { () throws(BusError) in
        try await scene.client.call(
          destination: scene.service.uniqueName, path: "/nowhere", interface: "org.example.First", method: "Wait")
      }
      #expect(object?.remoteName == "org.freedesktop.DBus.Error.UnknownMethod")
      let service = await busError { () throws(BusError) in
        try await scene.client.call(destination: "org.nobody", path: "/", interface: "org.nobody.I", method: "M")
      }
      #expect(service?.remoteName == "org.freedesktop.DBus.Error.ServiceUnknown")
    }
  }

  @Test(arguments: [[], [.string("no number")], [.int32(1), .int32(2)]] as [[BusValue]])
  func `an answer that the interface does not promise becomes Failed and a fault of ours`(_ answer: [BusValue])
    async throws
  {
    try await withScene(["Add": { _ in BusAnswer(answer) }]) { scene in
      var faults = 0
      scene.service.onFault = { _ in faults += 1 }
      let error = await busError { () throws(BusError) in try await scene.call("Add", [.int32(1), .int32(2)]) }
      #expect(error?.remoteName == "org.freedesktop.DBus.Error.Failed")
      #expect(faults == 1)
    }
  }

  @Test func `an answer of another type than expected is an error to the caller`() async throws {
    try await withScene { scene in
      let error = await busError { () throws(BusError) in
        try await scene.client.call(
          destination: scene.service.uniqueName, path: "/example", interface: "org.example.First", method: "Who",
          expecting: "s")
      }
      guard case .badMessage = error else { return #expect(error == nil, "expected badMessage") }
    }
  }

  @Test func `a slow method keeps no other waiting`() async throws {
    let gate = Gate()
    try await withScene([
      "Wait": { _ in
        await gate.wait()
        return BusAnswer()
      }
    ]) { scene in
      async let slow = scene.call("Wait")
      _ = try await scene.call("Who")  // comes back while Wait waits
      gate.open()
      #expect(try await slow.arguments == [])
    }
  }

  @Test func `a thousand calls are in flight at once and each gets its own answer`() async throws {
    let gate = Gate()
    try await withScene([
      "Add": { call in
        if call.arguments[0] == .int32(999) { gate.open() }
        await gate.wait()
        return BusAnswer([call.arguments[0]])
      }
    ]) { scene in
      // The bus allows 128 calls at a time to each connection.
      var clients: [BusConnection] = []
      for _ in 0..<10 { clients.append(try await BusConnection.open(address: scene.bus.address)) }
      let right = try await withThrowingTaskGroup(of: Bool.self, returning: Int.self) { group in
        for number in 0..<1000 {
          let client = clients[number / 100]
          group.addTask {
            let value = BusValue.int32(Int32(number))
            let reply = try await client.call(
              destination: scene.service.uniqueName, path: "/example", interface: "org.example.First", method: "Add",
              arguments: [value, value], timeoutMilliseconds: nil)
            return reply.arguments == [value]
          }
        }
        var right = 0
        for try await isRight in group where isRight { right += 1 }
        return right
      }
      #expect(right == 1000)
    }
  }

  @Test func `a call ends at its limit and the connection goes on`() async throws {
    let gate = Gate()
    try await withScene([
      "Wait": { _ in
        await gate.wait()
        return BusAnswer()
      }
    ]) { scene in
      let error = await busError { () throws(BusError) in try await scene.call("Wait", timeout: 1) }
      guard case .timedOut = error else { return #expect(error == nil, "expected timedOut") }
      gate.open()
      _ = try await scene.call("Who")
    }
  }

  @Test func `cancelling the task ends its call`() async throws {
    let arrived = Gate()
    let gate = Gate()
    try await withScene([
      "Wait": { _ in
        arrived.open()
        await gate.wait()
        return BusAnswer()
      }
    ]) { scene in
      let task = Task { await busError { () throws(BusError) in try await scene.call("Wait", timeout: nil) } }
      await arrived.wait()
      task.cancel()
      #expect(await task.value == .cancelled)
      gate.open()
      let early = Task { await busError { () throws(BusError) in try await scene.call("Who") } }
      early.cancel()
      #expect(await early.value == .cancelled)
    }
  }

  @Test func `a service that dies ends the calls that wait for it at once`() async throws {
    let arrived = Gate()
    try await withScene([
      "Wait": { _ in
        arrived.open()
        await Gate().wait()
        return BusAnswer()
      }
    ]) { scene in
      async let error = busError { () throws(BusError) in try await scene.call("Wait", timeout: nil) }
      await arrived.wait()
      scene.service.close()
      #expect(await error?.remoteName == "org.freedesktop.DBus.Error.NoReply")
    }
  }

  @Test func `what cannot be sent is refused before it is`() async throws {
    try await withScene { scene in
      let bad: [(String, String, String, String)] = [
        ("not a name", "/example", "org.example.First", "Who"),
        ("org.example\0", "/example", "org.example.First", "Who"),
        ("org.example", "example", "org.example.First", "Who"), ("org.example", "/a//b", "org.example.First", "Who"),
        ("org.example", "/example", "First", "Who"), ("org.example", "/example", "org.example.First", "W ho"),
        ("", "/example", "org.example.First", "Who"), ("org.example", "", "org.example.First", ""),
      ]
      for (destination, path, interface, method) in bad {
        let error = await busError { () throws(BusError) in
          try await scene.client.call(destination: destination, path: path, interface: interface, method: method)
        }
        guard case .invalid = error else {
          Issue.record("\(destination) \(path) \(interface) \(method): \(String(describing: error))")
          continue
        }
      }
    }
  }
}
