import GLibLoop
import Glibc
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct NameTests {
  @Test func `a name is taken at once or not at all`() async throws {
    try await withScene { scene in
      #expect(try await scene.client.owner(of: "org.example.Name") == nil)
      try await scene.service.requestName("org.example.Name")
      try await scene.service.requestName("org.example.Name")
      #expect(try await scene.client.owner(of: "org.example.Name") == scene.service.uniqueName)
      #expect(
        await busError { () throws(BusError) in try await scene.client.requestName("org.example.Name") }
          == .nameTaken("org.example.Name"))
      #expect(
        await busError { () throws(BusError) in
          try await scene.client.requestName("org.example.Name", options: .replace)
        } == .nameTaken("org.example.Name"))
      try await scene.service.releaseName("org.example.Name")
      // Not queued: the name is free now.
      #expect(try await scene.client.owner(of: "org.example.Name") == nil)
    }
  }

  @Test func `an owner that allows it is replaced and hears of it`() async throws {
    try await withScene { scene in
      var lost: [String] = []
      let subscription = try scene.service.onNameLost { lost.append($0) }
      try await scene.service.requestName("org.example.Name", options: .allowReplacement)
      try await scene.client.requestName("org.example.Name", options: .replace)
      #expect(try await scene.service.owner(of: "org.example.Name") == scene.client.uniqueName)
      #expect(lost == ["org.example.Name"])
      subscription.cancel()
    }
  }

  @Test func `the bus vouches for the user and the process`() async throws {
    try await withScene { scene in
      let credentials = try await scene.service.credentials(of: scene.client.uniqueName)
      #expect(credentials.uid == getuid())
      #expect(credentials.pid == UInt32(getpid()))
      let nobody = await busError { () throws(BusError) in try await scene.service.credentials(of: ":1.9999") }
      #expect(nobody?.remoteName == "org.freedesktop.DBus.Error.NameHasNoOwner")
    }
  }

  @Test func `a client that is killed is missed`() async throws {
    try await withScene { scene in
      let arrived = AsyncStream.makeStream(of: String.self)
      let arrivals = try scene.service.subscribe(sender: "org.freedesktop.DBus", member: "NameOwnerChanged") { signal in
        if let name = signal.arguments[0].asString, name.hasPrefix(":"), signal.arguments[1] == .string("") {
          arrived.continuation.yield(name)
        }
      }
      _ = try await scene.service.owner(of: "org.freedesktop.DBus")
      // A client in a process of its own that stays on the bus.
      let client = try RunningProgram(
        "/usr/bin/dbus-monitor", ["--address", scene.bus.address, "type='signal',member='NothingAtAll'"])
      var names = arrived.stream.makeAsyncIterator()
      guard let name = await names.next() else { return }
      let vanished = Gate()
      let watch = try scene.service.watchName(name) { vanished.open() }
      client.signal(SIGKILL)
      await vanished.wait()
      _ = try await client.wait()
      watch.cancel()
      arrivals.cancel()
    }
  }

  @Test func `watches tell of their own name alone, each once`() async throws {
    try await withScene { scene in
      let others = try [await BusConnection.open(address: scene.bus.address), await .open(address: scene.bus.address)]
      var vanished: [String] = []
      let gates = [Gate(), Gate()]
      var watches: [BusSubscription] = []
      for (other, gate) in zip(others, gates) {
        watches.append(try scene.service.watchName(other.uniqueName) { vanished.append(other.uniqueName + " first") })
        watches.append(
          try scene.service.watchName(other.uniqueName) {
            vanished.append(other.uniqueName + " second")
            gate.open()
          })
      }
      let cancelled = try scene.service.watchName(others[0].uniqueName) { vanished.append("never") }
      cancelled.cancel()
      others[1].close()
      await gates[1].wait()
      #expect(vanished == [others[1].uniqueName + " first", others[1].uniqueName + " second"])
      others[0].close()
      await gates[0].wait()
      #expect(vanished.suffix(2) == [others[0].uniqueName + " first", others[0].uniqueName + " second"])
      #expect(vanished.count == 4)
    }
  }

  @Test func `a name that is gone before it is watched is missed all the same`() async throws {
    try await withScene { scene in
      let gate = Gate()
      let watch = try scene.service.watchName(":1.4711") { gate.open() }
      await gate.wait()
      watch.cancel()
    }
  }

  @Test func `closing is told once, to callers, watches and calls`() async throws {
    try await withScene { scene in
      let closed = Gate()
      let vanished = Gate()
      var times = 0
      let subscription = scene.client.onClosed {
        times += 1
        closed.open()
      }
      let watch = try scene.client.watchName(scene.service.uniqueName) { vanished.open() }
      #expect(!scene.client.isClosed)
      try await scene.bus.stop()
      await closed.wait()
      await vanished.wait()
      await scene.client.waitUntilClosed()
      #expect(times == 1 && scene.client.isClosed)
      #expect(await busError { () throws(BusError) in try await scene.call("Who") } == .closed)
      #expect(throws: BusError.self) { _ = try scene.client.subscribe { _ in } }
      subscription.cancel()
      watch.cancel()
    }
  }

  @Test(arguments: [
    "", "unix:path=/nonexistent/whorl-bus", "tcp:host=localhost,port=1", "unixexec:path=/bin/false", "nonsense",
    "unix:path=/nonexistent/a;tcp:host=localhost,port=1", "unix:", "unix:path=/a\0b",
  ])
  func `a bus that cannot be reached is a clear error`(_ address: String) async throws {
    GLibLoop.startThread()
    let error = await busError { () throws(BusError) in try await BusConnection.open(address: address) }
    guard case .cannotConnect(address, _) = error else { return #expect(error == nil, "expected cannotConnect") }
  }
}
