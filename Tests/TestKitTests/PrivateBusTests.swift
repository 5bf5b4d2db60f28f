import Foundation
import TestKit
import Testing

@Suite struct PrivateBusTests {
  private func call(_ bus: PrivateBus, _ arguments: [String], user: UInt32? = nil) async throws -> RunningProgram.Result
  {
    try await RunningProgram.run("/usr/bin/gdbus", ["call", "--address", bus.address] + arguments, user: user)
  }

  private func check(_ bus: PrivateBus, timeout: Int = 10) async throws -> RunningProgram.Result {
    try await call(
      bus,
      [
        "--timeout", "\(timeout)", "--dest", "org.freedesktop.PolicyKit1",
        "--object-path", "/org/freedesktop/PolicyKit1/Authority",
        "--method", "org.freedesktop.PolicyKit1.Authority.CheckAuthorization",
        "('system-bus-name', {'name': <':1.7'>})", "org.whorl.test", "{}", "1", "",
      ])
  }

  private let listNames = [
    "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
    "--method", "org.freedesktop.DBus.ListNames",
  ]

  @Test(.enabled(if: getuid() == 0, "only root can become another user"))
  func `Another user may use the private bus`() async throws {
    let bus = try await PrivateBus()
    #expect(try await call(bus, listNames, user: 65534).status == 0)
  }

  @Test func `A bus that was stopped is gone`() async throws {
    let bus = try await PrivateBus()
    try await bus.stop()
    #expect(try await call(bus, listNames).status == 1)
  }

  @Test func `The polkit mock answers what it is told to, from one question to the next`() async throws {
    let bus = try await PrivateBus()
    let polkit = try await PolkitMock(bus: bus)
    #expect(try await check(bus).text == "((true, false, @a{ss} {}),)\n")
    try await polkit.answer(.deny)
    #expect(try await check(bus).text == "((false, false, @a{ss} {}),)\n")
    try await polkit.answer(.challenge)
    #expect(try await check(bus).text == "((false, true, @a{ss} {}),)\n")
    try await polkit.answer(.error)
    #expect(try await check(bus).errorText.contains("told to fail"))
    try await polkit.answer(.hang)
    #expect(try await check(bus, timeout: 1).errorText.contains("imeout"))
    #expect(polkit.checks.count == 5)
    #expect(polkit.checks.first == .init(action: "org.whorl.test", subject: "system-bus-name :1.7", flags: 1))
    try await polkit.answer(.crash)
    #expect(try await check(bus).status == 1)
    #expect(try await polkit.program.wait().end == .exited(1))
  }
}
