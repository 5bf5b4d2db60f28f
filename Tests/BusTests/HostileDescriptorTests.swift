import CGLib
import GLibLoop
import Glibc
import TestKit
import Testing

@testable import Bus

/// A TCP connection whose last close waits for half a minute: it lingers over data that its peer does not read.
private final class LingeringSocket {
  private(set) var descriptor: Int32
  private var peer: Int32
  private let inode: UInt64

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let isConnected = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
          && connect(descriptor, $0, size) == 0
      }
    }
    self.descriptor = descriptor
    peer = isConnected ? accept(listener, nil, nil) : -1
    inode = Self.inode(of: descriptor)
    try #require(peer >= 0)
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    let chunk = [UInt8](repeating: 0, count: 1 << 16)
    while write(descriptor, chunk, chunk.count) > 0 {}
    _ = fcntl(descriptor, F_SETFL, flags)
    var waiting = linger(l_onoff: 1, l_linger: 30)
    try #require(setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &waiting, socklen_t(MemoryLayout<linger>.size)) == 0)
  }

  private static func inode(of descriptor: Int32) -> UInt64 {
    var facts = stat()
    let isSocket = fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFSOCK
    return isSocket ? UInt64(facts.st_ino) : 0
  }

  /// Lets go of our own copy, once others hold some, so that the last one is theirs.
  func forget() {
    close(descriptor)
    descriptor = -1
  }

  /// How many descriptors of this process still are this socket.
  var copies: Int {
    (0..<1024).filter { Self.inode(of: $0) == inode }.count
  }

  /// Ends what a close of the other end may wait for.
  func release() {
    close(peer)
    peer = -1
  }

  deinit {
    if peer >= 0 { close(peer) }
    if descriptor >= 0 { close(descriptor) }
  }
}

@Suite(.timeLimit(.minutes(5))) struct HostileDescriptorTests {
  enum Way: CaseIterable {
    case signal, heardSignal, unknownPath, unknownMethod, wrongArguments, tooLarge, ignored, reply
  }

  /// Sends a message with the descriptor along and does not wait for anything.
  @GLibActor private static func send(_ way: Way, _ socket: LingeringSocket, on scene: Scene) throws {
    var path = "/example"
    var method = "Pass"
    var arguments: [BusValue] = [.handle(0)]
    switch way {
    case .signal, .heardSignal, .ignored: break
    case .unknownPath: path = "/nowhere"
    case .unknownMethod: method = "Nothing"
    case .wrongArguments: arguments = [.string("x")]
    case .tooLarge: arguments = [.handle(0), .bytes(Array(repeating: 0, count: MessageLimits.unasked.bytes))]
    case .reply: return
    }
    let isSignal = way == .signal || way == .heardSignal
    let message = GObjectReference(
      owning: isSignal
        ? g_dbus_message_new_signal(path, "org.example.First", "Happened")
        : g_dbus_message_new_method_call(scene.service.uniqueName, path, "org.example.First", method))
    g_dbus_message_set_destination(message.pointer, scene.service.uniqueName)
    let body = try Variant.tuple(arguments)
    g_dbus_message_set_body(message.pointer, body.pointer)
    if let list = try attach([socket.descriptor]) {
      g_dbus_message_set_unix_fd_list(message.pointer, UnsafeMutablePointer(list.pointer))
    }
    let isSent = g_dbus_connection_send_message(
      scene.client.object.pointer, message.pointer, G_DBUS_SEND_MESSAGE_FLAGS_NONE, nil, nil)
    try #require(isSent != 0)
  }

  @Test(arguments: Way.allCases)
  func `a descriptor that cannot be closed in time keeps nobody waiting`(_ way: Way) async throws {
    let arrived = Gate()
    try await withScene([
      "Pass": { _ in
        arrived.open()
        return BusAnswer([.handle(0)], descriptors: [open("/dev/null", O_RDONLY)])
      }
    ]) { scene in
      let socket = try LingeringSocket()
      let other = try await BusConnection.open(address: scene.bus.address)
      let listening = try scene.service.subscribe(
        interface: way == .heardSignal ? "org.example.First" : "org.example.X"
      ) {
        _ in arrived.open()
      }
      if way == .reply {
        // The answer comes to us with the descriptor, which we let go unseen.
        scene.example.methods["Pass"] = { _ in BusAnswer([.handle(0)], descriptors: [dup(socket.descriptor)]) }
        let nothing = open("/dev/null", O_RDONLY)
        _ = try await scene.call("Pass", [.handle(0)], descriptors: [nothing])
        close(nothing)
      } else {
        try Self.send(way, socket, on: scene)
      }
      socket.forget()
      if way == .ignored || way == .heardSignal { await arrived.wait() }
      // The peer is still there and reads nothing: whoever waits for the close waits longer than these calls do.
      for client in [scene.client, other] {
        let reply = try await client.call(
          destination: scene.service.uniqueName, path: "/example", interface: "org.example.First", method: "Who")
        #expect(reply.arguments == [.string(client.uniqueName), .boolean(false)])
      }
      for _ in 0..<1000 where socket.copies > 0 { _ = try await scene.call("Who") }
      #expect(socket.copies == 0)
      socket.release()
      listening.cancel()
    }
  }

  @Test func `descriptors that come along keep their order`() async throws {
    let content = Notes()
    try await withScene([
      "Pass": { call in
        for index in [2, 0, 1] as [Int32] {
          guard let taken = try call.descriptor(.handle(index)).take() else { throw BusMethodError.failed("taken") }
          var byte: UInt8 = 0
          _ = read(taken, &byte, 1)
          content.bytes.append(byte)
          close(taken)
        }
        return BusAnswer([.handle(0)], descriptors: [open("/dev/null", O_RDONLY)])
      }
    ]) { scene in
      var readers: [Int32] = []
      for byte in [10, 11, 12] as [UInt8] {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        _ = [byte].withUnsafeBytes { write(ends[1], $0.baseAddress, 1) }
        close(ends[1])
        readers.append(ends[0])
      }
      _ = try await scene.call("Pass", [.handle(0)], descriptors: readers)
      for reader in readers { close(reader) }
      #expect(content.bytes == [12, 10, 11])
    }
  }

  @Test func `more slow descriptors than there are closers keep nobody waiting`() async throws {
    GLibLoop.startThread()
    let sockets = try (0..<40).map { _ in try LingeringSocket() }
    for socket in sockets { BusDescriptor(owning: dup(socket.descriptor)).close() }
    for socket in sockets { socket.forget() }
    while sockets.contains(where: { $0.copies > 0 }) { await Task.yield() }
    for socket in sockets { socket.release() }
  }
}

/// What a handler noted.
@GLibActor
private final class Notes {
  var bytes: [UInt8] = []

  nonisolated init() {}
}
