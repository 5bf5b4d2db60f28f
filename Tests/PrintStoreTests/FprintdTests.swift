import Foundation
import PrintStore
import ReaderLink
import TestKit
import Testing

private let daemon = "/usr/libexec/fprintd"

/// The layout against the program that it comes from, where that is installed: on a bus, a polkit, a reader and a
/// folder of the test's own.
@Suite(.enabled(if: access(daemon, X_OK) == 0, "fprintd is not installed")) struct FprintdTests {
  @Test func `What fprintd enrolled is found, and what the store saved fprintd lists and deletes`() async throws {
    let bus = try await PrivateBus()
    let polkit = try await PolkitMock(bus: bus)
    let folder = try TemporaryFolder()
    let state = try folder.makeFolder("state")
    let environment = [
      "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "STATE_DIRECTORY": state, "FP_VIRTUAL_IMAGE": folder("finger"),
      "PATH": "/usr/bin:/bin", "LC_ALL": "C",
    ]
    let server = try RunningProgram(daemon, ["--no-timeout"], environment: environment, input: "")
    try await bus.waitForName("net.reactivated.Fprint")

    let enrolment = try RunningProgram(
      "/usr/bin/fprintd-enroll", ["-f", "right-index-finger", "root"], environment: environment, input: "")
    let reader = VirtualReader(socket: folder("finger"))
    // One touch to see whether the finger is known, and five to learn it.
    for touch in 1...6 {
      let seen = enrolment.text().utf8.count
      try await reader.press(.whorl, touch)
      try await enrolment.waitFor("Enroll result", skipping: seen)
    }
    let enrolled = try await enrolment.wait()
    #expect(enrolled.text.contains("enroll-completed"))

    let store = PrintStore(root: state)
    #expect(try store.users() == ["root"])
    #expect(try store.fingers(user: "root", driver: "virtual_image", deviceID: "0") == [.rightIndex])
    let key = PrintStore.Key(user: "root", driver: "virtual_image", deviceID: "0", finger: .rightIndex)
    let print = try #require(try store.load(key))

    #expect(try store.delete(key))
    let none = try await RunningProgram.run("/usr/bin/fprintd-list", ["root"], environment: environment)
    #expect(none.text.contains("has no fingers enrolled"))
    try store.save(print, for: key)
    let list = try await RunningProgram.run("/usr/bin/fprintd-list", ["root"], environment: environment)
    #expect(list.text.contains("right-index-finger"), "\(list.text)")
    let deletion = try await RunningProgram.run("/usr/bin/fprintd-delete", ["root"], environment: environment)
    #expect(deletion.status == 0)
    #expect(try store.users().isEmpty)
    #expect(server.isRunning && polkit.program.isRunning)
  }
}
