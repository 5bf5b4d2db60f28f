import GLibLoop
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct SignalTests {
  @Test func `a signal to one connection reaches that one alone`() async throws {
    try await withScene { scene in
      let other = try await BusConnection.open(address: scene.bus.address)
      var heard: [String] = []
      var overheard: [String] = []
      let first = try scene.client.subscribe(interface: "org.example.First") {
        heard.append($0.arguments.first?.asString ?? "")
      }
      let second = try other.subscribe(interface: "org.example.First") {
        overheard.append($0.arguments.first?.asString ?? "")
      }
      // Both have told the bus by the time that a call is answered.
      _ = try await scene.call("Who")
      _ = try await other.owner(of: "org.freedesktop.DBus")
      try scene.service.emitSignal(
        destination: scene.client.uniqueName, path: "/example", interface: "org.example.First", name: "Happened",
        arguments: [.string("secret")])
      try scene.service.emitSignal(
        path: "/example", interface: "org.example.First", name: "Happened", arguments: [.string("public")])
      // Messages of one sender keep their order: an answer comes after its signals.
      _ = try await scene.call("Who")
      _ = try await other.call(
        destination: scene.service.uniqueName, path: "/example", interface: "org.example.First", method: "Who")
      #expect(heard == ["secret", "public"])
      #expect(overheard == ["public"])
      first.cancel()
      second.cancel()
    }
  }

  @Test func `signals of a call come before its answer, in order`() async throws {
    try await withScene { scene in
      scene.example.methods["Wait"] = { [weak service = scene.service] call in
        for number in 0..<100 {
          try service?.emitSignal(
            destination: call.sender, path: call.path, interface: "org.example.First", name: "Happened",
            arguments: [.string("\(number)")])
        }
        return BusAnswer()
      }
      var heard: [String] = []
      let subscription = try scene.client.subscribe(
        sender: scene.service.uniqueName, path: "/example", interface: "org.example.First", member: "Happened"
      ) { heard.append($0.arguments.first?.asString ?? "") }
      _ = try await scene.call("Wait")
      #expect(heard == (0..<100).map { "\($0)" })
      subscription.cancel()
    }
  }

  @Test func `another sender's signals do not get past a subscription to one`() async throws {
    try await withScene { scene in
      let impostor = try await BusConnection.open(address: scene.bus.address)
      var heard: [String] = []
      let subscription = try scene.client.subscribe(sender: scene.service.uniqueName, interface: "org.example.First") {
        heard.append($0.sender)
      }
      try impostor.emitSignal(
        destination: scene.client.uniqueName, path: "/example", interface: "org.example.First", name: "Happened",
        arguments: [.string("forged")])
      _ = try await impostor.owner(of: "org.freedesktop.DBus")
      _ = try await scene.call("Who")
      #expect(heard == [])
      subscription.cancel()
    }
  }

  @Test func `a cancelled subscription hears nothing more`() async throws {
    try await withScene { scene in
      var heard = 0
      let subscription = try scene.client.subscribe(interface: "org.example.First") { _ in heard += 1 }
      @GLibActor func emit() async throws {
        try scene.service.emitSignal(
          destination: scene.client.uniqueName, path: "/example", interface: "org.example.First", name: "Happened",
          arguments: [.string("")])
        _ = try await scene.call("Who")
      }
      try await emit()
      #expect(heard == 1)
      subscription.cancel()
      subscription.cancel()
      try await emit()
      #expect(heard == 1)
    }
  }

  @Test func `changed properties are told to those who listen`() async throws {
    try await withScene { scene in
      var heard: [[BusValue]] = []
      let subscription = try scene.client.subscribe(
        sender: scene.service.uniqueName, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged"
      ) { heard.append($0.arguments) }
      _ = try await scene.call("Who")
      try scene.service.emitPropertiesChanged(
        path: "/example", interface: "org.example.First", changed: ["Colour": .string("red")], invalidated: ["Size"])
      _ = try await scene.call("Who")
      #expect(heard == [[.string("org.example.First"), .options(["Colour": .string("red")]), .strings(["Size"])]])
      subscription.cancel()
    }
  }

  @Test func `a signal that cannot be sent is refused`() async throws {
    try await withScene { scene in
      #expect(throws: BusError.self) {
        try scene.service.emitSignal(destination: "nobody", path: "/", interface: "a.b", name: "C")
      }
      #expect(throws: BusError.self) { try scene.service.emitSignal(path: "x", interface: "a.b", name: "C") }
      #expect(throws: BusError.self) { try scene.service.emitSignal(path: "/", interface: "a", name: "C") }
      #expect(throws: BusError.self) {
        try scene.service.emitSignal(path: "/", interface: "a.b", name: "C", arguments: [.string("\0")])
      }
    }
  }
}
