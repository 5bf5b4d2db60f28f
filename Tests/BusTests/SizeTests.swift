import GLibLoop
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct SizeTests {
  private static func bytes(_ count: Int) -> BusValue { .variant(.bytes(Array(repeating: 7, count: count))) }
  private static let tooLarge = BusError.remote(
    name: "org.whorl.Error.TooLarge", message: "The answer is larger than 8 MiB; ask for less at a time.")

  @Test func `a call or signal beyond 8 MiB is not sent, and the connection stays`() async throws {
    try await withScene { scene in
      let large = Self.bytes(MessageLimits.outgoingBytes)
      let call = await busError { () throws(BusError) in try await scene.call("Echo", [large]) }
      #expect(call == .invalid("a message larger than 8 MiB"))
      let signal = await busError { () throws(BusError) in
        try scene.client.emitSignal(path: "/a", interface: "org.example.First", name: "Happened", arguments: [large])
      }
      #expect(signal == .invalid("a message larger than 8 MiB"))
      let changed = await busError { () throws(BusError) in
        try scene.client.emitPropertiesChanged(path: "/a", interface: "org.example.First", changed: ["Size": large])
      }
      #expect(changed == .invalid("a message larger than 8 MiB"))
      _ = try await scene.call("Who")
    }
  }

  @Test(arguments: [MessageLimits.outgoingBytes, MessageLimits.outgoingBytes + (1 << 20)])
  func `an answer beyond 8 MiB becomes an error that says so`(_ size: Int) async throws {
    try await withScene([
      "Echo": { _ in BusAnswer([Self.bytes(size)]) },
      "Fail": { _ in throw BusMethodError.failed(String(repeating: "x", count: size)) },
    ]) { scene in
      scene.example.properties["Colour"] = .string(String(repeating: "x", count: size))
      let echo = await busError { () throws(BusError) in try await scene.call("Echo", [.variant(.byte(1))]) }
      #expect(echo == Self.tooLarge)
      let fail = await busError { () throws(BusError) in try await scene.call("Fail", [.string("")]) }
      #expect(fail == Self.tooLarge)
      let get = await busError { () throws(BusError) in
        try await scene.callProperties("Get", [.string("org.example.First"), .string("Colour")])
      }
      #expect(get == Self.tooLarge)
      let all = await busError { () throws(BusError) in
        try await scene.callProperties("GetAll", [.string("org.example.First")])
      }
      #expect(all == Self.tooLarge)
      _ = try await scene.call("Who")
    }
  }

  @Test func `an answer of almost 8 MiB arrives`() async throws {
    let size = MessageLimits.outgoingBytes - 100
    try await withScene(["Echo": { _ in BusAnswer([Self.bytes(size)]) }]) { scene in
      let reply = try await scene.call("Echo", [.variant(.byte(1))])
      let isWhole = reply.arguments == [Self.bytes(size)]
      #expect(isWhole)
    }
  }

  @Test func `a call of too many bytes or values never reaches the handler, and the next one does`() async throws {
    let reached = Gate()
    try await withScene([
      "Echo": { _ in
        reached.open()
        return BusAnswer([.variant(.byte(1))])
      }
    ]) { scene in
      let bytes = await busError { () throws(BusError) in
        try await scene.call("Echo", [Self.bytes(MessageLimits.unasked.bytes)])
      }
      #expect(bytes?.remoteName == "org.freedesktop.DBus.Error.LimitsExceeded")
      let many = BusValue.array(element: "b", Array(repeating: .boolean(true), count: MessageLimits.unasked.values))
      let values = await busError { () throws(BusError) in try await scene.call("Echo", [.variant(many)]) }
      #expect(values?.remoteName == "org.freedesktop.DBus.Error.InvalidArgs")
      #expect(!reached.isOpen)
      _ = try await scene.call("Echo", [Self.bytes(MessageLimits.unasked.bytes - 100)])
      #expect(reached.isOpen)
    }
  }

  /// GDBus would put the text into its own error, which the bus then would not bear.
  @Test func `nobody makes us answer with what is too large for the bus`() async throws {
    try await withScene { scene in
      let longest = String(repeating: "x", count: 7 << 20)
      let property = await busError { () throws(BusError) in
        try await scene.callProperties("Get", [.string("org.example.First"), .string(longest)])
      }
      #expect(property?.remoteName == "org.freedesktop.DBus.Error.LimitsExceeded")
      let path = await busError { () throws(BusError) in
        try await scene.client.call(
          destination: scene.service.uniqueName, path: "/" + longest, interface: "org.example.First", method: "Who")
      }
      #expect(path?.remoteName == "org.freedesktop.DBus.Error.LimitsExceeded")
      _ = try await scene.call("Who")
    }
  }

  @Test func `too large a signal is dropped and the next one arrives`() async throws {
    try await withScene { scene in
      let arrived = Gate()
      var sizes: [Int] = []
      let listening = try scene.client.subscribe(interface: "org.example.First") { signal in
        sizes.append(signal.arguments.count)
        arrived.open()
      }
      _ = try await scene.call("Who")  // the bus knows by now that we listen
      for arguments in [[Self.bytes(MessageLimits.unasked.bytes)], [.byte(1), .byte(2)]] as [[BusValue]] {
        try scene.service.emitSignal(
          path: "/example", interface: "org.example.First", name: "Happened", arguments: arguments)
      }
      await arrived.wait()
      #expect(sizes == [2])
      listening.cancel()
    }
  }
}
