import Foundation
import Glibc

/// A TPM2 in a program (swtpm), with its state in a folder. Its tools are tpm2-tools, without a resource manager.
public final class SoftwareTPM: Sendable {
  /// Whether what it takes is here, for tests to be left out by.
  public static let isAvailable = ["/usr/bin/swtpm", "/usr/bin/systemd-creds", "/usr/bin/tpm2_pcrextend"]
    .allSatisfy(FileManager.default.isExecutableFile)

  /// As systemd-creds names it.
  public let device: String
  /// The program, which ends with the last reference.
  public let program: RunningProgram

  /// Starts the TPM whose state is in `folder`, made where it is missing: another folder is another machine's. Its PCRs begin
  /// anew, as after a reboot.
  public init(in folder: String) async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let socket = folder + "/s"
    for file in [socket, socket + ".ctrl"] { unlink(file) }
    program = try RunningProgram(
      "/usr/bin/swtpm",
      [
        "socket", "--tpm2", "--tpmstate", "dir=\(folder)", "--server", "type=unixio,path=\(socket)", "--ctrl",
        "type=unixio,path=\(socket).ctrl", "--flags", "not-need-init,startup-clear",
      ], environment: ["PATH": "/usr/bin:/bin"], input: "")
    device = "swtpm:path=\(socket)"
    while access(socket, F_OK) != 0 {
      try Task.checkCancellation()
      guard program.isRunning else { throw TestKitError("swtpm ended: \(program.text(.errors))") }
      // swtpm says nothing when it listens, and a moment is not to be spent at full speed.
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// The machine is switched off.
  public func stop() async throws {
    program.signal(SIGTERM)
    _ = try await program.wait()
  }

  /// Measures something into a PCR, as firmware does: 64 hexadecimal digits.
  public func extend(_ register: Int, with digest: String) async throws {
    try await tool("tpm2_pcrextend", ["\(register):sha256=\(digest)"])
  }

  private func tool(_ name: String, _ arguments: [String]) async throws {
    let result = try await RunningProgram.run(
      "/usr/bin/\(name)", arguments, environment: ["TPM2TOOLS_TCTI": device, "PATH": "/usr/bin:/bin"])
    guard result.status == 0 else { throw TestKitError("\(name) ended with \(result.end): \(result.errorText)") }
  }
}
