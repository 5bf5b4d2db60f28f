import Glibc
import TestKit
import Testing

/// The whole path, as a user sees it.
@Suite(.timeLimit(.minutes(3))) struct MainJobTests {
  @Test func `A finger is enrolled in six stages, opens its secret, and another finger does not`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    let enrolled = try await world.enroll(.leftLoop)
    for stage in 1...6 { #expect(enrolled.errorText.contains("stage \(stage) of 6")) }

    let stored = try await world.whorl(["set", "mail", "--require", "any"], to: "s3cret\u{0}bytes")
    #expect(stored.status == 0, "\(stored.errorText)")

    let wrong = try await world.whorl(["get", "mail"], pressing: (1...3).map { SyntheticFinger.whorl.press($0) })
    #expect(wrong.status == 4)
    #expect(wrong.output.isEmpty)

    let right = try await world.whorl(["get", "mail"], pressing: [SyntheticFinger.leftLoop.press(7)])
    #expect(right.status == 0, "\(right.errorText)")
    #expect(right.output == Array("s3cret\u{0}bytes".utf8))
    #expect(daemon.isRunning)
  }

  @Test func `Every requirement opens for what it names and for nothing else`() async throws {
    let world = try await World()
    try world.setPasscode()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    for requirement in ["any", "current", "presence", "passcode", "none"] {
      let stored = try await world.whorl(
        ["set", requirement, "--require", requirement], to: "secret of \(requirement)")
      #expect(stored.status == 0, "\(requirement): \(stored.errorText)")
    }
    for requirement in ["any", "current", "presence"] {
      let opened = try await world.whorl(["get", requirement], pressing: [SyntheticFinger.leftLoop.press(2)])
      #expect(opened.text == "secret of \(requirement)", "\(opened.errorText)")
    }
    let open = try await world.whorl(["get", "none"])
    #expect(open.text == "secret of none")
    // No terminal to ask on: at once, with a code of its own.
    let passcode = try await world.whorl(["get", "passcode"])
    #expect(passcode.status == 12)
    #expect(passcode.output.isEmpty)
  }

  @Test func `Items bound to the set of fingers are gone for good once a finger is enrolled or deleted`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "bound", "--require", "current"], to: "a").status == 0)
    #expect(try await world.whorl(["set", "loose", "--require", "any"], to: "b").status == 0)
    try await world.enroll(.rightLoop, as: "left-index-finger")
    let gone = try await world.whorl(["get", "bound"])
    #expect(gone.status == 13, "\(gone.errorText)")
    #expect(gone.output.isEmpty)
    let loose = try await world.whorl(["get", "loose"], pressing: [SyntheticFinger.rightLoop.press(3)])
    #expect(loose.text == "b", "the other finger opens what any finger opens: \(loose.errorText)")

    #expect(try await world.whorl(["set", "bound", "--require", "current"], to: "c").status == 0)
    #expect(try await world.whorl(["get", "bound"], pressing: [SyntheticFinger.leftLoop.press(4)]).text == "c")
    #expect(try await world.whorl(["delete", "left-index-finger"]).status == 0)
    #expect(try await world.whorl(["get", "bound"]).status == 13)

    // Nor does a restart bring it back.
    daemon.signal(SIGTERM)
    #expect(try await daemon.wait().status == 0)
    try await world.startDaemon()
    #expect(try await world.whorl(["get", "bound"]).status == 13)
    #expect(try await world.whorl(["get", "loose"], pressing: [SyntheticFinger.leftLoop.press(5)]).text == "b")
  }

  @Test func `A damaged print file makes a secret unavailable, not gone`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "bound", "--require", "current"], to: "a").status == 0)
    let file = world.state + "/root/virtual_image/0/7"
    let print = try Bytes.read(file)
    try Bytes.write(Array(print.prefix(print.count / 2)), to: file)
    let unavailable = try await world.whorl(["get", "bound"])
    #expect(unavailable.status != 0 && unavailable.status != 13 && unavailable.status != 3, "\(unavailable.errorText)")
    #expect(unavailable.output.isEmpty)
    #expect(try Bytes.read(file) == Array(print.prefix(print.count / 2)), "nobody touches the damaged file")
    try Bytes.write(print, to: file)
    #expect(try await world.whorl(["get", "bound"], pressing: [SyntheticFinger.leftLoop.press(2)]).text == "a")
  }

  @Test func `A print that was not enrolled through Whorl opens no secret`() async throws {
    let world = try await World()
    try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    // What somebody with the disk could do: put a print of his own beside the owner's.
    let other = try await World()
    try await other.startDaemon()
    try await other.enroll(.whorl)
    let planted = try Bytes.read(other.state + "/root/virtual_image/0/7")
    try Bytes.write(planted, to: world.state + "/root/virtual_image/0/6")
    let planter = try await world.whorl(["get", "mail"], pressing: (1...3).map { SyntheticFinger.whorl.press($0) })
    #expect(planter.status == 4, "\(planter.errorText)")
    #expect(planter.output.isEmpty)
    // Nor in place of the owner's, under a secret that any finger opens.
    try Bytes.write(planted, to: world.state + "/root/virtual_image/0/7")
    let replaced = try await world.whorl(["get", "mail"])
    #expect(replaced.status == 8, "\(replaced.errorText)")
    #expect(replaced.output.isEmpty)
  }

  @Test func `Fingers are listed, deleted and enrolled again`() async throws {
    let world = try await World()
    try await world.startDaemon()
    #expect(try await world.whorl(["fingers"]).status == 8)
    try await world.enroll(.leftLoop)
    try await world.enroll(.whorl, as: "left-thumb")
    let fingers = try await world.whorl(["fingers"])
    #expect(fingers.text.contains("right-index-finger") && fingers.text.contains("left-thumb"))
    #expect(try await world.whorl(["delete", "left-thumb"]).status == 0)
    #expect(try await world.whorl(["delete", "left-thumb"]).status == 3)
    #expect(try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(3)]).status == 0)
    try await world.enroll(.rightLoop)
    #expect(try await world.whorl(["verify"], pressing: [SyntheticFinger.rightLoop.press(3)]).status == 0)
    #expect(
      try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(2)]).status == 4,
      "the finger enrolled before is replaced")
  }
}
