import Foundation

@testable import Bus

/// A dbus-daemon of the test's own, in a folder of its own; both go with the object.
final class OwnBus {
  let address: String
  private let folder: String
  private let daemon = Process()

  init() throws {
    folder = NSTemporaryDirectory() + "whorl-bus-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <listen>unix:path=\(folder)/bus</listen>
        <auth>EXTERNAL</auth>
        <policy context="default">
          <allow send_destination="*" eavesdrop="false"/>
          <allow receive_sender="*"/>
          <allow own="*"/>
          <allow user="*"/>
        </policy>
      </busconfig>
      """
    try configuration.write(toFile: folder + "/bus.conf", atomically: false, encoding: .utf8)
    let output = Pipe()
    daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
    daemon.arguments = ["--config-file=\(folder)/bus.conf", "--nofork", "--nopidfile", "--print-address=1"]
    daemon.standardOutput = output
    daemon.standardError = FileHandle.nullDevice
    try daemon.run()
    var line: [UInt8] = []
    while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
      line.append(byte)
    }
    address = String(decoding: line, as: UTF8.self)
  }

  func stop() {
    daemon.terminate()
    daemon.waitUntilExit()
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(atPath: folder)
  }
}
