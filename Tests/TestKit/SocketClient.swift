import CPosix
import Foundation

/// One message to a stream socket whose server may not be there yet.
enum SocketClient {
  /// Connects (again and again until the server listens), sends the bytes, and waits until the server has read them
  /// all and closed. Gives what it sent back.
  ///
  /// libfprint serves its newest connection and drops the one before, with its bytes unread; the kernel tells that by
  /// a reset, and the message is then sent anew. That it listens again leaves no sign to wait on, so time it is.
  static func deliver(_ bytes: [UInt8], to path: String, seconds: Int) throws -> [UInt8] {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      do {
        return try attempt(bytes, path, until: end)
      } catch let problem as NotYet where ContinuousClock.now < end {
        _ = problem
        usleep(5000)
      } catch let problem as NotYet {
        throw TestKitError("\(path) took no message within \(seconds) s: \(String(cString: strerror(problem.code)))")
      }
    }
  }

  private struct NotYet: Error { let code: Int32 }

  private static func attempt(_ bytes: [UInt8], _ path: String, until end: ContinuousClock.Instant) throws -> [UInt8] {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let handle = socket(AF_UNIX, kind, 0)
    guard handle >= 0 else { throw TestKitError.posix("socket") }
    defer { close(handle) }
    try connect(handle, to: path)
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        // MSG_NOSIGNAL: no SIGPIPE when the reader goes away.
        raw.baseAddress.map { Glibc.send(handle, $0 + sent, raw.count - sent, Int32(MSG_NOSIGNAL)) } ?? 0
      }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        try wait(on: handle, for: POLLOUT, until: end, path)
      } else if errno == EPIPE || errno == ECONNRESET {
        throw NotYet(code: errno)
      } else if errno != EINTR {
        throw TestKitError.posix("send to \(path)")
      }
    }
    shutdown(handle, Int32(SHUT_WR))
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(handle, &buffer, buffer.count, 0)
      if count > 0 {
        answer += buffer[..<count]
      } else if count == 0 {
        return answer
      } else if errno == EAGAIN {
        try wait(on: handle, for: POLLIN, until: end, path)
      } else if errno == ECONNRESET {
        throw NotYet(code: errno)
      } else if errno != EINTR {
        throw TestKitError.posix("recv from \(path)")
      }
    }
  }

  private static func connect(_ handle: Int32, to path: String) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else { throw TestKitError("\(path) is too long for a socket's name") }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(handle, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected != 0 else { return }
    if [ENOENT, ECONNREFUSED, EAGAIN].contains(errno) { throw NotYet(code: errno) }
    throw TestKitError.posix("connect \(path)")
  }

  private static func wait(
    on handle: Int32, for events: Int32, until end: ContinuousClock.Instant, _ path: String
  ) throws {
    while true {
      let left = max(.zero, end - ContinuousClock.now).components
      let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
      var ready = pollfd(fd: handle, events: Int16(events), revents: 0)
      let polled = poll(&ready, 1, Int32(milliseconds))
      if polled > 0 { return }
      guard polled < 0, errno == EINTR else {
        throw TestKitError("\(path): the reader did not take the message in time")
      }
    }
  }
}
