import ChildProcess
import Foundation
import Glibc

/// Programs that tests make.
///
/// Another process writes the file: while this one has it open for writing, a child that another test forks at that
/// moment holds it open too, and running it fails with "Text file busy".
public enum ProgramFile {
  /// Copies `source` to `destination` and makes it executable for everybody.
  public static func copy(_ source: String, to destination: String) throws {
    let pid: pid_t
    do throws(ChildProcess.Failure) {
      pid = try ChildProcess.spawn(
        "/usr/bin/install", ["-m", "755", source, destination], environment: [],
        descriptors: [.nothing, .nothing, .nothing])
    } catch {
      throw TestKitError.posix("start install", error.code)
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw TestKitError("\(source) could not be copied to \(destination)") }
  }
}

extension TemporaryFolder {
  /// Writes a script into the folder that can be run as a program, and gives its path.
  public func writeProgram(_ text: String, to name: String) throws -> String {
    let source = try write(text, to: name + ".text")
    defer { unlink(source) }
    try ProgramFile.copy(source, to: self(name))
    return self(name)
  }
}
