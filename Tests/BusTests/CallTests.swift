@testable import Bus
import GLibLoop
import Testing

@GLibActor
@Suite struct `Calls over the bus` {
  nonisolated init() { GLibLoop.startThread() }

  @Test func `a call reaches the handler and its answer comes back`() async throws {
    let scene = try await Scene([
      "Add": { call in
        BusAnswer([.int32((call.arguments[0].asInt32 ?? 0) + (call.arguments[1].asInt32 ?? 0))])
      }
    ])
    let reply = try await scene.call("Add", [.int32(40), .int32(2)])
    #expect(reply.arguments == [.int32(42)])
    #expect(reply.sender == scene.service.uniqueName)
  }

  @Test func `the handler learns who calls from the bus, and whether polkit may ask`() async throws {
    let scene = try await Scene()
    let plain = try await scene.call("Who")
    #expect(plain.arguments == [.string(scene.client.uniqueName), .boolean(false)])
    let interactive = try await scene.call("Who", options: .interactive)
    #expect(interactive.arguments == [.string(scene.client.uniqueName), .boolean(true)])
  }
}
