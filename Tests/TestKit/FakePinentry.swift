import Foundation

/// A pinentry that answers by a test's script (Scripts/pinentry.sh), in a folder of its own.
public struct FakePinentry: Sendable {
  private let folder: TemporaryFolder
  /// The program.
  public let path: String

  /// - Parameter answers: one for each time that it asks, such as `pin TEXT`, `cancel` or `die`; after the last one its
  ///   dialog stays open.
  public init(answers: [String] = []) throws {
    folder = try TemporaryFolder(open: true)
    path = folder("pinentry")
    // A link: a program that was only just written may be busy still, in a child of another test's that is being started.
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: SourceTree.path("Tests/TestKit/Scripts/pinentry.sh"))
    // Another user's pinentry writes here too.
    chmod(folder.path, 0o777)
    try answer(answers)
  }

  /// Changes what it answers from now on.
  public func answer(_ answers: [String]) throws {
    try folder.write(answers.map { $0 + "\n" }.joined(), to: "answers", mode: 0o666)
  }

  /// Has the dialog that is open take its next answer.
  public func goOn() throws {
    guard let pid = lines("pid").last.flatMap({ pid_t($0) }) else {
      throw TestKitError("no pinentry has a dialog open")
    }
    kill(pid, SIGUSR1)
  }

  /// Has it say this at its start and nothing more.
  public func greet(_ text: String) throws { try folder.write(text, to: "greeting") }

  /// The lines that it was told, and `open` where its dialog stays open, `ended` where that was ended.
  public var log: [String] { lines("log") }

  /// What it was started with, as NAME=VALUE.
  public var environment: [String] { lines("environment") }

  /// How often it was to ask.
  public var timesAsked: Int { log.count { $0 == "GETPIN" } }

  /// Waits until its log has that line so many times.
  public func logs(_ line: String, times: Int = 1) async throws {
    while log.count(where: { $0 == line }) < times {
      try Task.checkCancellation()
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  private func lines(_ name: String) -> [String] {
    let text = (try? String(contentsOfFile: folder(name), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }
}
