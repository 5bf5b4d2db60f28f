internal import CPosix
internal import ChildProcess
internal import EmbeddedLink
internal import Glibc

/// The process that keeps the enclave. It ends when this one does, whatever ends that.
struct Helper: Sendable {
  /// The bus of the enclave.
  let address: String
  private let pid: pid_t
  /// Of the helper; -1 where the kernel gives none.
  private let process: Int32
  /// The helper's standard input: it ends when this is closed.
  private let life: Int32

  /// So many milliseconds its start, and its end, may take at most; it has shorter limits of its own.
  private static let patienceWithStart: Int32 = 150_000
  private static let patienceWithEnd: Int32 = 20_000
  private static let limit = 4096

  /// Starts it, and waits until the enclave is there.
  static func start(
    folder: String, programs: String, asks: Bool, environment: [String]
  ) throws(EmbeddedError) -> Helper {
    let life = try pipe()
    defer { close(life.read) }
    let output: (read: Int32, write: Int32)
    do throws(EmbeddedError) { output = try pipe() } catch {
      close(life.write)
      throw error
    }
    defer { close(output.read) }
    let program = "\(programs)/\(EmbeddedLink.helper)"
    let pid: pid_t
    do {
      pid = try ChildProcess.spawn(
        program, [folder, programs] + (asks ? [EmbeddedLink.asksOption] : []), environment: environment,
        descriptors: [
          .duplicate(life.read), .duplicate(output.write),
          cposix_fcntl_int(STDERR_FILENO, F_GETFD, 0) < 0 ? .nothing : .duplicate(STDERR_FILENO),
        ], ownGroup: true)
      close(output.write)
    } catch {
      close(output.write)
      close(life.write)
      throw EmbeddedError(.cannotStart, "\(program) does not start: \(error.text)")
    }
    let process = cposix_pidfd_open(pid)
    let start = line(from: output.read).flatMap { EmbeddedLink.Start($0) }
    if case .ready(let address) = start {
      return Helper(address: address, pid: pid, process: process, life: life.write)
    }
    Helper(address: "", pid: pid, process: process, life: life.write).end()
    if case .failed(let failure, let text) = start { throw EmbeddedError(EmbeddedError.Code(failure), text) }
    throw EmbeddedError(.cannotStart, "\(program) ended, or hung, at its start; try again.")
  }

  /// Has it take the enclave away and end, and waits for that.
  func end() {
    close(life)
    if !Self.wait(for: process, milliseconds: Self.patienceWithEnd) {
      kill(pid, SIGKILL)
    }
    // Somebody of the program's who waits for all children may have been faster.
    while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    if process >= 0 { close(process) }
    removeBusFolder()
  }

  /// Lets go of one that belongs to the process that this one was forked from.
  func forget() {
    close(life)
    if process >= 0 { close(process) }
  }

  /// One that was killed has left it.
  private func removeBusFolder() {
    let prefix = "unix:path="
    guard address.hasPrefix(prefix) else { return }
    let socket = address.dropFirst(prefix.count).prefix { $0 != "," }
    guard let slash = socket.lastIndex(of: "/"), socket.contains("/whorl-embedded.") else { return }
    let folder = String(socket[..<slash])
    for file in ["bus", "bus.conf"] { unlink("\(folder)/\(file)") }
    rmdir(folder)
  }

  // MARK: Descriptors

  /// Neither end is one of the first descriptors, wherever the program has closed those.
  private static func pipe() throws(EmbeddedError) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    if cposix_pipe_cloexec(&ends) == 0 {
      let moved = ends.map { end in
        let high = cposix_fcntl_int(end, F_DUPFD_CLOEXEC, 10)
        close(end)
        return high
      }
      if moved.allSatisfy({ $0 >= 0 }) { return (moved[0], moved[1]) }
      for end in moved where end >= 0 { close(end) }
    }
    throw EmbeddedError(
      .cannotStart, "There are no more descriptors (\(String(cString: strerror(errno)))); close some.")
  }

  private static func wait(for descriptor: Int32, milliseconds: Int32) -> Bool {
    guard descriptor >= 0 else { return true }
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&entry, 1, milliseconds)
      if count >= 0 { return count > 0 }
      if errno != EINTR { return true }
    }
  }

  private static func line(from descriptor: Int32) -> String? {
    var bytes: [UInt8] = []
    while bytes.count < limit, wait(for: descriptor, milliseconds: patienceWithStart) {
      var buffer = [UInt8](repeating: 0, count: 512)
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      bytes += buffer.prefix(count)
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return String(decoding: bytes[..<end], as: UTF8.self) }
    }
    return nil
  }
}
