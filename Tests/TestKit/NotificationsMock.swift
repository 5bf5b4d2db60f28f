import Foundation

/// A notification service of the test's own on a private bus, and what a person does with what it shows.
public final class NotificationsMock: Sendable {
  /// One notification as it was asked for.
  public struct Notice: Sendable, Equatable {
    /// The server's number for it.
    public let id: Int
    /// The number of the one that it takes the place of; 0 for none.
    public let replaces: Int
    /// Its headline.
    public let summary: String
    /// Its text; line ends are `\n` in two characters.
    public let body: String
    /// Its actions: key, name, key, name, ...
    public let actions: String
  }

  /// The mock's process.
  public let program: RunningProgram

  /// Starts it and waits until it owns its name.
  /// - Parameter mode: `markup`, `plain` or `hang`.
  public init(address: String, mode: String = "markup") async throws {
    program = try RunningProgram(
      "/usr/bin/python3", [SourceTree.path("Tests/TestKit/Scripts/notifications.py"), mode],
      environment: ["DBUS_SESSION_BUS_ADDRESS": address, "PATH": "/usr/bin:/bin"])
    try await program.waitFor("ready\n")
  }

  /// What was shown so far, in order.
  public var notices: [Notice] {
    lines.compactMap { words in
      guard words.count == 6, words[0] == "notify", let id = Int(words[1]), let replaces = Int(words[2]) else {
        return nil
      }
      return Notice(id: id, replaces: replaces, summary: words[3], body: words[4], actions: words[5])
    }
  }

  /// The numbers of those that were taken away, in order.
  public var closed: [Int] {
    lines.compactMap { $0.count == 2 && $0[0] == "close" ? Int($0[1]) : nil }
  }

  /// Waits for so many to have been shown, and gives the last of them.
  public func shows(_ count: Int = 1) async throws -> Notice {
    while true {
      let notices = notices
      if notices.count >= count { return notices[count - 1] }
      try Task.checkCancellation()
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Waits for a notice to be taken away.
  public func closes(_ id: Int) async throws {
    while !closed.contains(id) {
      try Task.checkCancellation()
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Presses one of a notice's buttons.
  public func invoke(_ id: Int, _ key: String = "cancel") throws { try program.write("invoke \(id) \(key)\n") }

  /// Puts a notice away.
  public func dismiss(_ id: Int) throws { try program.write("dismiss \(id)\n") }

  private var lines: [[String]] {
    program.text().split(separator: "\n").map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
  }
}
