import GLibLoop
import Glibc
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
  /// A pipe whose ends a test owns.
  private static func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  /// Whether no writer is left: a read at the end says 0, without waiting.
  private static func isAtEnd(_ descriptor: Int32) -> Bool {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 0
  }

  /// Whether the last writer goes soon: the bus itself and GDBus drop their duplicates once the answer is through.
  @GLibActor private static func comesToItsEnd(_ descriptor: Int32, _ scene: Scene) async -> Bool {
    for _ in 0..<1000 {
      if isAtEnd(descriptor) { return true }
      _ = try? await scene.call("Who")
    }
    return false
  }

  @Test func `descriptors go both ways, close-on-exec`() async throws {
    try await withScene([
      "Pass": { call in
        guard let taken = try call.descriptor(call.arguments[0]).take() else { throw BusMethodError.failed("taken") }
        guard fcntl(taken, F_GETFD) & FD_CLOEXEC != 0 else { throw BusMethodError.failed("not close-on-exec") }
        return BusAnswer([.handle(0)], descriptors: [taken])
      }
    ]) { scene in
      let ends = try Self.makePipe()
      let reply = try await scene.call("Pass", [.handle(0)], descriptors: [ends.write])
      let back = try reply.descriptor(reply.arguments[0])
      close(ends.write)
      back.withDescriptor { descriptor in
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(write(descriptor, "x", 1) == 1)
      }
      var byte: UInt8 = 0
      #expect(read(ends.read, &byte, 1) == 1 && byte == UInt8(ascii: "x"))
      #expect(!Self.isAtEnd(ends.read))
      back.close()
      // Every duplicate on the way, the handler's among them, is closed.
      #expect(await Self.comesToItsEnd(ends.read, scene))
      close(ends.read)
    }
  }

  @Test func `descriptors that nobody takes are closed, whatever comes of the call`() async throws {
    try await withScene([
      "Pass": { _ in throw BusMethodError.failed("no thanks") },
      "Fail": { _ in BusAnswer() },
    ]) { scene in
      for (method, arguments) in [("Pass", [.handle(0)]), ("Fail", [.string("")]), ("Nothing", [])]
        as [(String, [BusValue])]
      {
        let ends = try Self.makePipe()
        _ = await busError { () throws(BusError) in
          try await scene.call(method, arguments, descriptors: [ends.write, ends.write])
        }
        close(ends.write)
        #expect(await Self.comesToItsEnd(ends.read, scene), "\(method) left a descriptor open")
        close(ends.read)
      }
    }
  }

  @Test(arguments: [-1, 1, 7, .max, .min] as [Int32])
  func `a handle that points at no descriptor is an error`(_ handle: Int32) async throws {
    try await withScene([
      "Pass": { call in
        _ = try call.descriptor(call.arguments[0])
        return BusAnswer([.handle(0)])
      }
    ]) { scene in
      let ends = try Self.makePipe()
      let error = await busError { () throws(BusError) in
        try await scene.call("Pass", [.handle(handle)], descriptors: [ends.read])
      }
      #expect(error?.remoteName == "org.freedesktop.DBus.Error.InvalidArgs")
      close(ends.read)
      close(ends.write)
      let reply = try await scene.call("Who")
      #expect(throws: BusError.self) { _ = try reply.descriptor(.handle(handle)) }
      #expect(throws: BusError.self) { _ = try reply.descriptor(reply.arguments[0]) }
    }
  }

  @Test func `an answer's descriptors are closed also when the answer is wrong`() async throws {
    let ends = try Self.makePipe()
    try await withScene(["Pass": { _ in BusAnswer([.string("no handle")], descriptors: [ends.write]) }]) { scene in
      _ = await busError { () throws(BusError) in try await scene.call("Pass", [.handle(0)]) }
      #expect(await Self.comesToItsEnd(ends.read, scene))
      close(ends.read)
    }
  }

  @Test func `what is no descriptor is not sent`() async throws {
    try await withScene { scene in
      for descriptor in [-1, 1_000_000] as [Int32] {
        let error = await busError { () throws(BusError) in
          try await scene.call("Pass", [.handle(0)], descriptors: [descriptor])
        }
        guard case .invalid = error else { return #expect(error == nil, "expected invalid") }
      }
    }
  }

  @Test func `a descriptor is taken once`() throws {
    let ends = try Self.makePipe()
    let owner = BusDescriptor(owning: ends.write)
    #expect(owner.take() == ends.write)
    #expect(owner.take() == nil)
    owner.close()
    #expect(!Self.isAtEnd(ends.read))
    close(ends.write)
    close(ends.read)
  }
}
