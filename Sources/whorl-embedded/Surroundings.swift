import CInterfaces
import CPosix
import ChildProcess
import EmbeddedLink
import GLibLoop
import Glibc

/// What whorld gets of the program's variables.
enum DaemonEnvironment {
  /// What readers in tests, and libraries at unusual places, need. whorld honours the former in private mode alone, which
  /// this is.
  private static let passed = [
    "LANG", "LD_LIBRARY_PATH", "LD_PRELOAD", "UMOCKDEV_DIR", "WHORL_TPM2_DEVICE", "NSS_WRAPPER_PASSWD",
    "NSS_WRAPPER_GROUP",
  ]

  static func make(address: String, folder: String) -> [String: String] {
    var variables = ProcessEnvironment.variables.filter { $0.key.hasPrefix("FP_") || passed.contains($0.key) }
    variables["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    variables["DBUS_SYSTEM_BUS_ADDRESS"] = address
    variables["STATE_DIRECTORY"] = folder + "/state"
    return variables
  }
}

/// The interface that agents have, from data/dbus.
func agentInterfaceXML() -> String { String(cString: whorl_interface_agent()) }

/// One process at a time uses a folder: for as long as this file, or whorld's copy of it, is open.
struct FolderLock {
  let file: Int32

  /// What a process that was there before leaves behind ends soon after it.
  private static let tries = 60
  private static let pause = 100

  @GLibActor
  static func take(_ folder: String) async throws(StartFailure) -> FolderLock {
    let path = folder + "/lock"
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | Int32(cposix_O_NOFOLLOW), 0o600)
    guard file >= 0 else {
      throw StartFailure(.cannotStart, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
    }
    for _ in 0..<tries {
      if flock(file, LOCK_EX | LOCK_NB) == 0 { return FolderLock(file: file) }
      do { try await glibSleep(milliseconds: pause) } catch { break }
    }
    close(file)
    throw StartFailure(
      .folderInUse, "Another process has an enclave in \(folder); end it, or name another folder.")
  }
}

/// What whorld and the bus say, since the last start.
struct DaemonLog {
  let path: String
  let file: Int32

  init(_ folder: String) throws(StartFailure) {
    path = folder + "/whorld.log"
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | Int32(cposix_O_NOFOLLOW), 0o600)
    guard file >= 0 else {
      throw StartFailure(.cannotStart, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
    }
  }

  /// The last thing it said.
  var lastLine: String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let size = lseek(file, 0, SEEK_END)
    let count = pread(file, &bytes, bytes.count, max(0, size - off_t(bytes.count)))
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    return text.split(separator: "\n").last.map(String.init) ?? "it said nothing"
  }
}

/// A pipe whose far end is a child's output.
@GLibActor
final class OutputPipe {
  let writeEnd: Int32
  private let readEnd: Int32
  private static let limit = 4096

  init() throws(StartFailure) {
    var ends: [Int32] = [-1, -1]
    guard cposix_pipe_cloexec(&ends) == 0 else {
      throw StartFailure(.cannotStart, "There is no pipe to be had: \(String(cString: strerror(errno)))")
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  /// The first line, once it is there; nil where the output ends before. Closes both ends.
  func firstLine() async -> String? {
    close(writeEnd)
    let (parts, came) = AsyncStream.makeStream(of: [UInt8].self)
    let watch = FDWatch(descriptor: readEnd, for: .readable) { [readEnd] _ in
      var buffer = [UInt8](repeating: 0, count: 512)
      let count = read(readEnd, &buffer, buffer.count)
      came.yield(Array(buffer.prefix(max(0, count))))
    }
    defer {
      watch.cancel()
      close(readEnd)
    }
    var bytes: [UInt8] = []
    for await part in parts {
      guard !part.isEmpty, bytes.count < Self.limit else { return nil }
      bytes += part
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return String(decoding: bytes[..<end], as: UTF8.self) }
    }
    return nil
  }
}
