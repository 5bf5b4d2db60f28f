internal import Glibc
internal import ReaderLink
internal import ReaderSandbox

/// What the bridge does before anything of libfprint.
enum Hardening {
  /// Where whorld leaves its end of the socket pair.
  static let linkDescriptor: Int32 = 3

  /// Where the arguments say that the bridge runs; nil for arguments that it does not know.
  static func place(arguments: [String]) -> ReaderSandbox.Place? {
    switch arguments {
    case []: .system
    case ["--private"]:
      .ownFolder(
        environment: (ReaderSandbox.socketVariables + ["UMOCKDEV_DIR"])
          .reduce(into: [:]) { found, name in found[name] = getenv(name).map { String(cString: $0) } })
    default: nil
    }
  }

  /// The words of the command line: `--private`, then `--only NODE` for each reader's node that may be opened.
  /// - Returns: the words before the nodes, and the nodes; nil for no `--only` at all, so that all may be.
  static func parts(of arguments: [String]) -> (place: [String], nodes: [String]?) {
    guard let first = arguments.firstIndex(of: "--only") else { return (arguments, nil) }
    let rest = arguments[first...]
    var nodes: [String] = []
    for index in stride(from: rest.startIndex, to: rest.endIndex, by: 2) {
      guard rest[index] == "--only", index + 1 < rest.endIndex, rest[index + 1].hasPrefix("/dev/"),
        !rest[index + 1].contains("/..")
      else { return (arguments, nil) }
      nodes.append(rest[index + 1])
    }
    return (Array(arguments[..<first]), nodes)
  }

  /// Sheds what can be shed; ends the process, with a line for people and a code for whorld, where something stays.
  static func apply(in place: ReaderSandbox.Place, only nodes: [String]?) {
    do {
      try ReaderSandbox.enter(place, keepingDescriptorsUpTo: linkDescriptor, only: nodes)
    } catch {
      complain(error.line)
      exit(error.exit.rawValue)
    }
    muteStandardError()
  }

  /// Lets the standard error lead nowhere: libusb and drivers write there past every log handler. How the process ends
  /// is all that whorld is told from now on.
  private static func muteStandardError() {
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard nowhere >= 0, dup2(nowhere, 2) == 2 else { exit(BridgeExit.notShed.rawValue) }
    if nowhere != 2 { close(nowhere) }
  }

  static func isSocket(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// One line on the standard error.
  static func complain(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  }
}
