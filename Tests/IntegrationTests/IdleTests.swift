import Foundation
import TestKit
import Testing

/// What whorld does when nobody asks anything of it.
@Suite(.timeLimit(.minutes(3))) struct IdleTests {
  @Test func `Nothing in whorld wakes it up by and by`() async throws {
    let world = try await World()
    let daemon = try await world.startDaemon()
    try await world.enroll(.leftLoop)
    #expect(try await world.whorl(["verify"], pressing: [SyntheticFinger.leftLoop.press(2)]).status == 0)
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.pid)/fd")
    let clocks = descriptors.compactMap { number -> String? in
      // Descriptors come and go while they are looked at.
      let text = (try? String(contentsOfFile: "/proc/\(daemon.pid)/fdinfo/\(number)", encoding: .utf8)) ?? ""
      return text.split(separator: "\n").first { $0.hasPrefix("clockid:") }.map(String.init)
    }
    // One timer, which the kernel fires at a wake from sleep alone. A thread pool that looks after itself has others.
    #expect(clocks == ["clockid: 0"])
  }
}
