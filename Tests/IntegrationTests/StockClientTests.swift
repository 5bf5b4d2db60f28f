import Foundation
import Glibc
import ReaderLink
import TestKit
import Testing

/// Debian's fprintd-enroll, -verify, -list and -delete say of whorld, line by line, what they say of fprintd.
@Suite(.timeLimit(.minutes(5))) struct StockClientTests {
  /// Plays a scenario to both daemons at once and compares every line and exit status.
  private func bothSay(
    _ readers: [FprintSide.Reader] = [.image], at location: SourceLocation = #_sourceLocation,
    _ scenario: @escaping @Sendable (FprintSide) async throws -> [FprintSide.Outcome]
  ) async throws {
    async let stock = scenario(FprintSide(.stock, readers: readers))
    async let whorl = scenario(FprintSide(.whorl, readers: readers))
    let (expected, seen) = try await (stock, whorl)
    #expect(expected.count == seen.count, sourceLocation: location)
    for (expected, seen) in zip(expected, seen) {
      // fprintd lists fingers as the file system happens to, Whorl as they are on the hands.
      #expect(seen == Self.inHandOrder(seen), sourceLocation: location)
      let same = Self.inHandOrder(expected) == seen
      #expect(same, "\nfprintd:\n\(expected)\nwhorld:\n\(seen)\n", sourceLocation: location)
    }
  }

  private static let allFingers = ["left", "right"].flatMap { side in
    ["thumb", "index-finger", "middle-finger", "ring-finger", "little-finger"].map { "\(side)-\($0)" }
  }

  private static func inHandOrder(_ outcome: FprintSide.Outcome) -> FprintSide.Outcome {
    var lines = outcome.output
    var start = 0
    while let first = lines[start...].firstIndex(where: { $0.hasPrefix(" - #") }) {
      let end = lines[first...].firstIndex { !$0.hasPrefix(" - #") } ?? lines.count
      let fingers = lines[first..<end].map { String($0.drop { $0 != ":" }.dropFirst(2)) }
      let ordered = fingers.sorted { (allFingers.firstIndex(of: $0) ?? 0) < (allFingers.firstIndex(of: $1) ?? 0) }
      for (number, finger) in ordered.enumerated() { lines[first + number] = " - #\(number): \(finger)" }
      start = end
    }
    return .init(command: outcome.command, end: outcome.end, output: lines, errors: outcome.errors)
  }

  @Test func `Without prints, each client says so`() async throws {
    try await bothSay { side in
      [
        try await side.run("list", ["root"]), try await side.run("verify"), try await side.run("delete", ["root"]),
        try await side.run("delete", ["root", "-f", "left-thumb"]), try await side.run("list"),
        try await side.run("list", ["nobody-of-that-name"]), try await side.run("verify", ["nobody-of-that-name"]),
      ]
    }
  }

  @Test func `A finger is enrolled, listed, verified and deleted`() async throws {
    try await bothSay { side in
      var said = [try await side.run("enroll", touching: [.press(.leftLoop, 1)])]
      said.append(try await side.run("list", ["root"]))
      said.append(try await side.run("verify", touching: [.press(.leftLoop, 6)]))
      said.append(try await side.run("verify", touching: [.press(.whorl, 1)]))
      said.append(try await side.run("verify", ["-f", "right-index-finger"], touching: [.press(.leftLoop, 7)]))
      said.append(try await side.run("verify", ["-f", "any"], touching: [.press(.leftLoop, 8)]))
      said.append(try await side.run("verify", ["-f", "left-thumb"]))
      said.append(try await side.run("verify", ["root"], touching: [.press(.leftLoop, 1)]))
      said.append(try await side.run("delete", ["root", "-f", "left-thumb"]))
      said.append(try await side.run("delete", ["root", "-f", "right-index-finger"]))
      said.append(try await side.run("list", ["root"]))
      #expect(said[0].output.last == "Enroll result: enroll-completed", "\(side.daemon)")
      #expect(said[2].end == .exited(0) && said[3].end == .exited(1), "\(side.daemon)")
      return said
    }
  }

  @Test func `A touch that was not good is told and asked for again`() async throws {
    try await bothSay { side in
      [
        try await side.run(
          "enroll",
          touching: [
            .press(.leftLoop, 1), .retry(.tooShort), .press(.leftLoop, 2), .retry(.centerFinger), .press(.leftLoop, 3),
            .retry(.removeFinger), .press(.leftLoop, 4), .retry(.general), .press(.leftLoop, 5),
          ]),
        try await side.run("verify", touching: [.retry(.general), .press(.leftLoop, 6)]),
        try await side.run(
          "verify", touching: [.retry(.tooShort), .retry(.centerFinger), .retry(.removeFinger), .press(.whorl, 1)]),
      ]
    }
  }

  @Test func `Every finger has its name`() async throws {
    try await bothSay([.device]) { side in
      var said: [FprintSide.Outcome] = []
      for (number, finger) in Self.allFingers.enumerated() {
        said.append(
          try await side.run(
            "enroll", ["-f", finger], touching: [.command("SCAN finger-\(number)")]))
        said.append(try await side.run("verify", ["-f", finger], touching: [.command("SCAN finger-\(number)")]))
        said.append(try await side.run("verify", ["-f", finger], touching: [.command("SCAN another")]))
      }
      said.append(try await side.run("list", ["root"]))
      said.append(try await side.run("enroll", ["-f", "nose"]))
      said.append(try await side.run("enroll", ["-f", "any"]))
      said.append(try await side.run("verify", ["-f", "nose"]))
      said.append(try await side.run("delete", ["root", "-f", "nose"]))
      for finger in Self.allFingers.dropLast(3) {
        said.append(try await side.run("delete", ["root", "-f", finger]))
      }
      said.append(try await side.run("list", ["root"]))
      said.append(try await side.run("delete", ["root"]))
      said.append(try await side.run("list", ["root"]))
      return said
    }
  }

  @Test func `A finger enrolled again takes the place of the old one`() async throws {
    try await bothSay { side in
      try await side.enroll(.leftLoop)
      var said = [try await side.run("enroll", touching: [.press(.whorl, 1)])]
      said.append(try await side.run("verify", touching: [.press(.leftLoop, 6)]))
      said.append(try await side.run("verify", touching: [.press(.whorl, 6)]))
      said.append(try await side.run("list", ["root"]))
      return said
    }
  }

  @Test func `Any of several fingers verifies, and one at a time is deleted`() async throws {
    try await bothSay { side in
      try await side.enroll(.leftLoop, as: "left-thumb")
      try await side.enroll(.whorl, as: "right-little-finger")
      try await side.enroll(.arch, as: "left-middle-finger")
      var said = [try await side.run("list", ["root"])]
      for finger in [SyntheticFinger.whorl, .leftLoop, .arch, .rightLoop] {
        said.append(try await side.run("verify", ["-f", "any"], touching: [.press(finger, 7)]))
      }
      said.append(try await side.run("verify", ["-f", "left-thumb"], touching: [.press(.leftLoop, 8)]))
      said.append(try await side.run("verify", ["-f", "left-thumb"], touching: [.press(.whorl, 8)]))
      said.append(try await side.run("delete", ["root", "-f", "left-thumb"]))
      said.append(try await side.run("verify", ["-f", "any"], touching: [.press(.leftLoop, 6)]))
      said.append(try await side.run("verify", ["-f", "any"], touching: [.press(.arch, 6)]))
      said.append(try await side.run("list", ["root"]))
      return said
    }
  }

  @Test func `A reader with storage of its own keeps and loses prints in step`() async throws {
    try await bothSay([.storage]) { side in
      var said: [FprintSide.Outcome] = []
      for finger in ["left-thumb", "right-thumb"] {
        said.append(
          try await side.run("enroll", ["-f", finger], touching: [.command("SCAN \(finger)")]))
      }
      said.append(try await side.run("list", ["root"]))
      said.append(try await side.run("verify", touching: [.command("SCAN right-thumb")]))
      said.append(try await side.run("verify", touching: [.command("SCAN left-thumb")]))
      said.append(try await side.run("verify", touching: [.command("SCAN nobodys")]))
      said.append(try await side.run("verify", touching: [.command("RETRY 1"), .command("SCAN left-thumb")]))
      // One finger under two names: found out before the first stage has passed.
      said.append(try await side.run("enroll", ["-f", "left-index-finger"], touching: [.command("SCAN left-thumb")]))
      said.append(try await side.run("delete", ["root", "-f", "left-thumb"]))
      said.append(try await side.run("verify", touching: [.command("SCAN left-thumb")]))
      said.append(try await side.run("delete", ["root"]))
      said.append(try await side.run("list", ["root"]))
      return said
    }
  }

  @Test func `Several readers are listed and deleted from one after the other`() async throws {
    let (stock, whorl) = try await (
      FprintSide(.stock, readers: [.device, .storage]), FprintSide(.whorl, readers: [.device, .storage])
    )
    // fprintd names the newest reader first, and takes it for the default one; with Whorl the oldest stays that.
    let blocks = { (outcome: FprintSide.Outcome) in
      Set(
        outcome.output.joined(separator: "\n").split(separator: "Using device ").dropFirst().map {
          $0.dropFirst("/net/reactivated/Fprint/Device/0\n".count).split(separator: "\n")
        })
    }
    let (expected, seen) = try await (stock.run("list", ["root"]), whorl.run("list", ["root"]))
    #expect(blocks(seen) == blocks(expected) && seen.end == expected.end)
    #expect(seen.output[1] == "Device at /net/reactivated/Fprint/Device/0")

    #expect(try await whorl.run("enroll", on: .device, touching: [.command("SCAN a")]).end == .exited(0))
    let devices = (0...1).map { "Using device /net/reactivated/Fprint/Device/\($0)" }
    let none = "User root has no fingers enrolled for Virtual device with storage and identification for debugging."
    #expect(
      try await whorl.run("list", ["root"]).output.dropFirst(3) == [
        devices[0], "Fingerprints for user root on Virtual device for debugging (swipe):",
        " - #0: right-index-finger", devices[1], none,
      ])
    #expect(try await whorl.run("verify", on: .device, touching: [.command("SCAN a")]).end == .exited(0))
    #expect(try await whorl.run("delete", ["root"]).end == .exited(0))
    #expect(blocks(try await whorl.run("list", ["root"])) == blocks(expected))
  }

  @Test(.enabled(if: geteuid() == 0, "two real users need root"))
  func `Users have their own prints, and root may name any of them`() async throws {
    try await bothSay { side in
      try await side.enroll(.leftLoop, user: 1)
      try await side.enroll(.whorl, user: 2)
      var said = [try await side.run("list", ["daemon", "bin", "root"])]
      said.append(try await side.run("verify", user: 1, touching: [.press(.leftLoop, 6)]))
      said.append(try await side.run("verify", user: 1, touching: [.press(.whorl, 6)]))
      said.append(try await side.run("verify", ["bin"], touching: [.press(.whorl, 6)]))
      said.append(
        try await side.run("enroll", ["-f", "left-thumb", "bin"], touching: [.press(.arch, 1)]))
      said.append(try await side.run("list", ["bin"], user: 2))
      said.append(try await side.run("delete", ["daemon", "bin"]))
      said.append(try await side.run("list", ["daemon", "bin"]))
      return said
    }
  }

  @Test func `What polkit refuses is refused with the same error`() async throws {
    try await bothSay { side in
      try await side.enroll()
      try await side.polkit.answer(.deny)
      return [
        try await side.run("list", ["root"]), try await side.run("verify"), try await side.run("enroll"),
        try await side.run("delete", ["root"]), try await side.run("list", ["daemon"]),
        try await side.run("verify", ["daemon"]),
      ].map { outcome in
        // Where either action would do, Whorl names both and fprintd the last.
        .init(
          command: outcome.command, end: outcome.end,
          output: outcome.output.map { $0.replacing("net.reactivated.fprint.device.verify or ", with: "") },
          errors: outcome.errors)
      }
    }
  }

  @Test func `A reader that another client holds is refused`() async throws {
    try await bothSay { side in
      try await side.enroll()
      try await side.untilReleased()
      let holder = try side.client("verify")
      _ = try await FprintSide.nextLine(holder, after: 0, where: FprintSide.asksForTouch)
      var said = [
        try await side.run("verify", whileHeld: true), try await side.run("enroll", whileHeld: true),
        try await side.run("delete", ["root"], whileHeld: true), try await side.run("list", ["root"], whileHeld: true),
      ]
      try await side.touch(.press(.leftLoop, 6))
      said.append(FprintSide.outcome("the holder", try await holder.wait()))
      said.append(try await side.run("verify", touching: [.press(.leftLoop, 7)]))
      return said
    }
  }

  @Test func `Without any reader the clients end at once`() async throws {
    try await bothSay([]) { side in
      [
        try await side.run("list", ["root"]), try await side.run("verify"), try await side.run("enroll"),
        try await side.run("delete", ["root"]),
      ]
    }
  }

  @Test func `A reader that fails in the middle ends the client with a status`() async throws {
    try await bothSay([.device]) { side in
      [
        try await side.run("enroll", touching: [.command("SCAN a")]),
        try await side.run("verify", touching: [.command("ERROR 0")]),
        try await side.run("enroll", ["-f", "left-thumb"], touching: [.command("SCAN b"), .command("ERROR 0")]),
        try await side.run("verify", touching: [.command("SCAN a")]),
      ]
    }
  }

  // MARK: One after the other on the same prints

  @Test(arguments: [FprintSide.Daemon.stock, .whorl])
  func `Prints enrolled under one daemon are good under the other`(_ first: FprintSide.Daemon) async throws {
    let before = try await FprintSide(first)
    try await before.enroll(.leftLoop)
    try await before.enroll(.whorl, as: "left-thumb")
    let after = try await FprintSide(first == .stock ? .whorl : .stock, copying: before.state)
    #expect(try await after.run("list", ["root"]) == before.run("list", ["root"]))
    let verified = [
      try await after.run("verify", ["-f", "any"], touching: [.press(.leftLoop, 6)]),
      try await after.run("verify", ["-f", "left-thumb"], touching: [.press(.whorl, 6)]),
      try await after.run("verify", ["-f", "any"], touching: [.press(.arch, 1)]),
      try await after.run("delete", ["root", "-f", "left-thumb"]),
    ]
    #expect(verified.map(\.end) == [.exited(0), .exited(0), .exited(1), .exited(0)], "\(verified)")
    // And back again.
    let back = try await FprintSide(first, copying: after.state)
    #expect(try await back.run("list", ["root"]) == after.run("list", ["root"]))
    #expect(try await back.run("verify", touching: [.press(.leftLoop, 7)]).end == .exited(0))
  }
}
