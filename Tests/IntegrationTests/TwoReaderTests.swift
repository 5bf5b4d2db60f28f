import Bus
import TestKit
import Testing

/// With two readers either may be touched.
@Suite(.timeLimit(.minutes(5))) struct TwoReaderTests {
  /// A world with the virtual image reader and a virtual reader that matches on its own chip; a finger on each.
  private struct Setting {
    let world: World
    let daemon: RunningProgram
    let second: VirtualDevice

    init() async throws {
      world = try await World()
      second = VirtualDevice(socket: world.folder("second"))
      let drivers = "virtual_image:virtual_device_storage"
      daemon = try await world.startDaemon(adding: [
        "FP_VIRTUAL_DEVICE_STORAGE": second.socket, "FP_DRIVERS_WHITELIST": drivers, "FP_DRIVERS_ALLOWLIST": drivers,
      ])
      for number in 0...1 {
        let client = try await FprintClient(world, reader: number)
        let isSecond = try await client.ask("name").contains("storage")
        try await client.ask("claim")
        try await client.ask("enroll " + (isSecond ? "left-index-finger" : "right-index-finger"))
        var touches = 0
        while !client.program.text().contains("status enroll-completed done") {
          try #require(touches < 8, "\(client.program.text())")
          touches += 1
          let seen = client.position
          if isSecond {
            try await second.scan("mine")
          } else {
            try await world.reader.press(SyntheticFinger.leftLoop.press(touches))
          }
          try await client.waitFor("status", after: seen)
          if !client.program.text().contains("done") { try await client.waitFor("needed True", after: 0) }
        }
        try await client.ask("enrollstop")
        try await client.ask("release")
      }
      try await world.adopt()
      try #require(try await world.whorl(["set", "mail", "--require", "any"], to: "a").status == 0)
    }
  }

  @Test func `Either reader opens a secret, the prompt names both, and a miss on one counts once`() async throws {
    let setting = try await Setting()
    let world = setting.world
    for onSecond in [true, false] {
      let request = try world.start(["get", "mail"])
      _ = try await world.nextPrompt(request, after: 0)
      #expect(request.text(.errors).contains(" or "), "\(request.text(.errors))")
      if onSecond {
        try await setting.second.scan("mine")
      } else {
        try await world.reader.press(SyntheticFinger.leftLoop.press(9))
      }
      #expect(try await request.wait().text == "a")
    }

    let request = try world.start(["get", "mail"])
    let seen = try await world.nextPrompt(request, after: 0)
    try await world.reader.press(SyntheticFinger.whorl.press(1))
    _ = try await world.nextPrompt(request, after: seen)
    let status = try await Client(world).call("Authentication1", "GetStatus")
    #expect(status.arguments[0].asOptions?["misses"]?.unwrapped == .uint32(1), "counted once")
    try await setting.second.scan("mine")
    #expect(try await request.wait().text == "a")
  }

  @Test func `A reader that fails or is busy does not keep the other from opening`() async throws {
    let setting = try await Setting()
    let world = setting.world
    let request = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(request, after: 0)
    try await setting.second.command("ERROR 0")
    try await world.reader.press(SyntheticFinger.leftLoop.press(9))
    #expect(try await request.wait().text == "a")

    var names: [String] = []
    for number in 0...1 {
      let client = try await FprintClient(world, reader: number)
      names.append(try await client.ask("name"))
    }
    let busy = try await FprintClient(world, reader: names[0].contains("storage") ? 0 : 1)
    try await busy.ask("claim")
    try await busy.ask("verify")
    try await busy.waitFor("needed True", after: 0)
    let other = try world.start(["get", "mail"])
    _ = try await world.nextPrompt(other, after: 0)
    try await world.reader.press(SyntheticFinger.leftLoop.press(10))
    #expect(try await other.wait().text == "a")
    #expect(!busy.program.text().contains("done"), "the other one's verification goes on")
  }
}
