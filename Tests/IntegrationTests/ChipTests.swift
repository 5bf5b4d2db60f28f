import Bus
import Foundation
import TestKit
import Testing

/// A reader with storage of its own, kept in step with the disk.
@Suite(.timeLimit(.minutes(3))) struct ChipTests {
  private static let full = "ERROR 8"
  private static let passed = "enroll-stage-passed"

  private func scene() async throws -> (World, FprintProbe) {
    let world = try await World(.storage)
    try await world.startDaemon()
    let client = try await FprintProbe(world)
    _ = try await client.call("Claim", "")
    return (world, client)
  }

  private func print(_ finger: Int, _ world: World, user: String = "root") -> String {
    "\(world.state)/\(user)/virtual_device_storage/0/\(finger)"
  }

  @Test func `A finger that is enrolled already is refused at the first touch and named`() async throws {
    let (world, client) = try await scene()
    #expect(try await client.enroll("right-index-finger", scanning: "mine", on: world).last == "enroll-completed")
    #expect(try await client.explanation().isEmpty)
    #expect(try await client.enroll("left-thumb", scanning: "mine", on: world) == ["enroll-duplicate"])
    #expect(try await client.explanation().contains("right-index-finger"))
    #expect(!Bytes.exists(print(1, world)) && Bytes.exists(print(7, world)))
    #expect(try await world.device.storedPrints() == ["mine"])
    // The same finger in place of itself is no duplicate.
    #expect(try await client.enroll("right-index-finger", scanning: "mine", on: world).last == "enroll-completed")
    #expect(try await client.verify(scanning: "mine", on: world) == "verify-match")
    #expect(try await world.device.storedPrints() == ["mine"])
  }

  @Test func `Another account's finger is refused without a word of whose it is`() async throws {
    let (world, client) = try await scene()
    #expect(try await client.enroll("right-index-finger", scanning: "mine", on: world).last == "enroll-completed")
    _ = try await client.call("Release")
    _ = try await client.call("Claim", "somebody-else")
    #expect(try await client.enroll("left-thumb", scanning: "mine", on: world) == ["enroll-duplicate"])
    let text = try await client.explanation()
    #expect(text.contains("another account") && !text.contains("root") && !text.contains("right-index-finger"))
  }

  @Test func `A finger that only the chip knows is nobody's, and is enrolled in its place`() async throws {
    let (world, client) = try await scene()
    try await world.device.command("INSERT left-behind")
    let statuses = try await client.enroll("right-index-finger", scanning: "left-behind", on: world)
    #expect(statuses.first == Self.passed && statuses.last == "enroll-completed")
    #expect(try await world.device.storedPrints() == ["left-behind"])
    #expect(try await client.verify(scanning: "left-behind", on: world) == "verify-match")
  }

  @Test func `A full chip is rid of nobody's prints, one by one, and never of somebody's`() async throws {
    let (world, client) = try await scene()
    try await client.enroll("right-index-finger", scanning: "FP1-20000101-7-AAAAAAAA-root", on: world)
    for name in ["FP1-20201216-7-BBBBBBBB-gone", "FP1-20201217-7-CCCCCCCC-gone"] {
      try await world.device.command("INSERT \(name)")
    }
    for left in [1, 0] {
      try await client.start("EnrollStart", "left-thumb")
      try await world.device.scan("new")
      #expect(await client.next().what == "answered")
      #expect(await client.next().what == Self.passed)
      try await world.device.command(Self.full)
      // Room was made, and the enrolment goes on.
      while try await world.device.storedPrints().count > left + 1 { await Task.yield() }
      _ = try await client.call("EnrollStop")
      #expect(await client.last() == "enroll-failed")
    }
    #expect(try await world.device.storedPrints() == ["FP1-20000101-7-AAAAAAAA-root"])
    #expect(try await client.verify(scanning: "FP1-20000101-7-AAAAAAAA-root", on: world) == "verify-match")
  }

  @Test func `A chip full of somebody's prints says so, what to delete, and the next time before any touch`()
    async throws
  {
    let (world, client) = try await scene()
    try await client.enroll("right-index-finger", scanning: "mine", on: world)
    try await client.start("EnrollStart", "left-thumb")
    try await world.device.scan("new")
    _ = await client.next()
    _ = await client.next()
    try await world.device.command(Self.full)
    #expect(await client.last() == "enroll-data-full")
    #expect(try await client.explanation().contains("whorl delete right-index-finger"))
    _ = try await client.call("EnrollStop")
    try await client.start("EnrollStart", "left-thumb")
    #expect(await client.last() == "enroll-data-full")
    _ = try await client.call("EnrollStop")
    _ = try await client.call("DeleteEnrolledFinger", "right-index-finger")
    #expect(try await client.enroll("left-thumb", scanning: "new", on: world).last == "enroll-completed")
  }

  @Test func `A print whose file is damaged is nobody's for no one: the chip keeps it`() async throws {
    let (world, client) = try await scene()
    _ = try await client.call("Release")
    _ = try await client.call("Claim", "somebody-else")
    try await client.enroll("left-thumb", scanning: "theirs", on: world)
    try Bytes.write(Array("FP3 no more".utf8), to: print(1, world, user: "somebody-else"))
    _ = try await client.call("Release")
    _ = try await client.call("Claim", "")
    #expect(try await client.enroll("left-thumb", scanning: "theirs", on: world) == ["enroll-duplicate"])
    try await client.start("EnrollStart", "right-thumb")
    try await world.device.scan("new")
    _ = await client.next()
    _ = await client.next()
    try await world.device.command(Self.full)
    #expect(await client.last() == "enroll-data-full")
    #expect(try await world.device.storedPrints() == ["theirs"])
  }

  @Test func `A chip that says it is full when it is asked for its list is given room`() async throws {
    let (world, client) = try await scene()
    try await client.enroll("left-thumb", scanning: "mine", on: world)
    try await world.device.command("INSERT nobodys")
    // Both are waiting when the enrolment begins: the touch takes the first, the list the second.
    try await world.device.scan("new")
    try await world.device.command(Self.full)
    try await client.start("EnrollStart", "right-thumb")
    _ = await client.next()
    #expect(await client.next().what == "enroll-stage-passed")
    _ = try await client.call("EnrollStop")
    #expect(try await world.device.storedPrints() == ["mine"])
  }

  @Test func `A print that the chip has lost is named, and is there again when the chip has it again`() async throws {
    let (world, client) = try await scene()
    try await client.enroll("right-index-finger", scanning: "kept", on: world)
    try await client.enroll("left-thumb", scanning: "lost", on: world)
    try await world.device.command("REMOVE lost")
    #expect(try await client.verify(scanning: "other", on: world) == "verify-no-match")
    #expect(try await client.call("ListEnrolledFingers", "").arguments == [.strings(["right-index-finger"])])
    let status = try await world.whorl(["status"])
    #expect(status.text.contains("left-thumb"), "\(status.text)")
    _ = try await client.call("Release")
    _ = try await client.call("Claim", "")
    try await world.device.command("INSERT lost")
    #expect(try await client.verify(scanning: "other", on: world) == "verify-no-match")
    #expect(
      try await client.call("ListEnrolledFingers", "").arguments == [.strings(["left-thumb", "right-index-finger"])])
  }

  @Test func `A chip that shows none of many prints costs nobody his`() async throws {
    let (world, client) = try await scene()
    for (finger, id) in [("right-index-finger", "one"), ("left-thumb", "two")] {
      try await client.enroll(finger, scanning: id, on: world)
    }
    for id in ["one", "two"] { try await world.device.command("REMOVE \(id)") }
    #expect(try await client.verify(scanning: "other", on: world) == "verify-no-match")
    #expect(Bytes.exists(print(7, world)) && Bytes.exists(print(1, world)))
    for id in ["one", "two"] { try await world.device.command("INSERT \(id)") }
    #expect(try await client.verify(scanning: "two", on: world) == "verify-match")
  }

  @Test func `A finger that the chip was thought to have lost is its owner's still`() async throws {
    let (world, client) = try await scene()
    try await client.enroll("right-index-finger", scanning: "kept", on: world)
    try await client.enroll("left-thumb", scanning: "lost", on: world)
    try await world.device.command("REMOVE lost")
    #expect(try await client.verify(scanning: "other", on: world) == "verify-no-match")
    _ = try await client.call("Release")
    _ = try await client.call("Claim", "somebody-else")
    try await world.device.command("INSERT lost")
    #expect(try await client.enroll("left-thumb", scanning: "lost", on: world) == ["enroll-duplicate"])
    #expect(try await world.device.storedPrints().sorted() == ["kept", "lost"])
  }

  @Test func `What binds a secret to the set of fingers outlives what the chip says`() async throws {
    let (world, client) = try await scene()
    try await client.enroll("right-index-finger", scanning: "kept", on: world)
    try await client.enroll("left-thumb", scanning: "lost", on: world)
    try await world.adopt()
    #expect(try await world.whorl(["set", "mail", "--require", "current"], to: "a").status == 0)
    try await world.device.command("REMOVE lost")
    #expect(try await client.verify(scanning: "other", on: world) == "verify-no-match")
    _ = try await client.call("Release")
    let request = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(request, after: 0)
    try await world.device.scan("kept")
    let result = try await request.wait()
    #expect(result.text == "a", "\(result.errorText)")
  }

  @Test func `A lost print can be deleted, and enrolled anew`() async throws {
    let (world, client) = try await scene()
    try await client.enroll("left-thumb", scanning: "lost", on: world)
    try await world.device.command("REMOVE lost")
    #expect(try await client.verify(scanning: "other", on: world) == "verify-no-match")
    #expect(try await client.error("ListEnrolledFingers", "") == "NoEnrolledPrints")
    #expect(try await client.error("DeleteEnrolledFinger", "left-thumb") == nil)
    #expect(try await client.error("DeleteEnrolledFinger", "left-thumb") == "NoEnrolledPrints")
    #expect(try await client.enroll("left-thumb", scanning: "new", on: world).last == "enroll-completed")
  }

  @Test func `What the reader cannot delete is told as left there, and is off the disk`() async throws {
    let (world, client) = try await scene()
    try await client.enroll("left-thumb", scanning: "mine", on: world)
    try await world.device.command("ERROR 4")
    #expect(try await client.error("DeleteEnrolledFingers2") == "PrintsNotDeletedFromDevice")
    #expect(!Bytes.exists(print(1, world)))
    #expect(try await client.error("ListEnrolledFingers", "") == "NoEnrolledPrints")
    #expect(try await world.device.storedPrints() == ["mine"])
  }

  @Test func `What the disk does not let go is told first`() async throws {
    let (world, client) = try await scene()
    try await client.enroll("left-thumb", scanning: "one", on: world)
    try await client.enroll("right-thumb", scanning: "two", on: world)
    try FileManager.default.removeItem(atPath: print(1, world))
    try FileManager.default.createDirectory(atPath: print(1, world), withIntermediateDirectories: false)
    try await world.device.command("ERROR 4")
    #expect(try await client.error("DeleteEnrolledFingers2") == "PrintsNotDeleted")
    #expect(!Bytes.exists(print(6, world)))
  }
}
