import Foundation

/// A polkit of the test's own on a private bus. What it answers can be changed while it runs.
public final class PolkitMock: Sendable {
  /// What it answers to `CheckAuthorization`.
  public enum Answer: String, Sendable, CaseIterable {
    /// Authorized.
    case allow
    /// Not authorized, and no password would help.
    case deny
    /// Not authorized yet: a password would be needed.
    case challenge
    /// A password would be needed, and somebody is asked for it: no answer where a dialog is allowed.
    case dialog
    /// Nothing, ever.
    case hang
    /// A D-Bus error.
    case error
    /// An answer of another type than the interface says.
    case garbage
    /// It dies without an answer.
    case crash
  }

  /// One question that it was asked.
  public struct Check: Sendable, Equatable {
    /// The action, such as `org.whorl.enroll`.
    public let action: String
    /// The subject: `system-bus-name :1.5` or `unix-process 123`.
    public let subject: String
    /// The flags of the call; 1 allows a dialogue.
    public let flags: UInt32

    /// A question with these values.
    public init(action: String, subject: String, flags: UInt32) {
      self.action = action
      self.subject = subject
      self.flags = flags
    }
  }

  /// The mock's process.
  public let program: RunningProgram

  /// Starts it and waits until it owns polkit's name.
  public init(bus: PrivateBus, answer: Answer = .allow) async throws {
    program = try RunningProgram(
      "/usr/bin/python3", [SourceTree.path("Tests/TestKit/Scripts/polkit.py"), answer.rawValue],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PATH": "/usr/bin:/bin"])
    try await program.waitFor("ready\n")
  }

  /// Changes what it answers from now on; returns when the change is in force.
  public func answer(_ answer: Answer) async throws {
    let seen = program.text().utf8.count
    try program.write(answer.rawValue + "\n")
    try await program.waitFor("now \(answer.rawValue)\n", skipping: seen)
  }

  /// What it was asked so far.
  public var checks: [Check] {
    program.text().split(separator: "\n").compactMap { line in
      let words = line.split(separator: "\t").map(String.init)
      guard words.count == 4, words[0] == "check", let flags = UInt32(words[3]) else { return nil }
      return Check(action: words[1], subject: words[2], flags: flags)
    }
  }
}
