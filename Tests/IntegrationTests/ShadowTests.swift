import Foundation
import Glibc
import TestKit
import Testing

/// The removal of an account's password, as whorld sees it in the real /etc/shadow: that of a mount namespace of its own, with a
/// copy of /etc in the place of the machine's, which nothing here touches.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "needs root: a mount namespace"))
struct ShadowTests {
  private static let password = "correct password"
  /// An account that every machine has, without a password; here it gets one.
  private static let (name, uid) = ("daemon", UInt32(1))

  /// whorld on a copy of /etc.
  private final class Copy: Sendable {
    let world: World
    private let script: String
    private let hash: String
    private var etc: String { world.folder("etc") }

    init() async throws {
      world = try await World()
      let copy = try await RunningProgram.run("/usr/bin/cp", ["-a", "/etc", world.folder("etc")])
      try #require(copy.status == 0, "\(copy.errorText)")
      let made = try await RunningProgram.run("/usr/bin/openssl", ["passwd", "-6", ShadowTests.password])
      hash = made.text.trimmingCharacters(in: .whitespacesAndNewlines)
      try FileManager.default.createDirectory(atPath: world.folder("etc/pam.d"), withIntermediateDirectories: true)
      try world.folder.write(
        try String(contentsOfFile: SourceTree.path("pam/whorl-passcode"), encoding: .utf8),
        to: "etc/pam.d/whorl-passcode")
      script = try world.folder.writeProgram(
        """
        #!/bin/sh
        exec unshare -m sh -c 'mount --bind \(world.folder("etc")) /etc && exec "$0"' '\(try BuiltPrograms.path("whorld"))'
        """, to: "whorld.sh")
      try setPassword(hash)
    }

    func start() async throws -> RunningProgram { try await world.startDaemon(script) }

    func restart(_ daemon: RunningProgram, then edit: () throws -> Void = {}) async throws -> RunningProgram {
      daemon.signal(SIGTERM)
      #expect(try await daemon.wait().status == 0)
      try edit()
      return try await start()
    }

    /// Edits the account's entry as an editor does: a new file takes the old one's place.
    func setPassword(_ field: String? = nil) throws {
      let text = try String(contentsOfFile: etc + "/shadow", encoding: .utf8)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        line.hasPrefix(ShadowTests.name + ":")
          ? "\(ShadowTests.name):\(field ?? hash):19000:0:99999:7:::" : String(line)
      }
      try world.folder.write(lines.joined(separator: "\n"), to: "etc/shadow.new", mode: 0o600)
      guard rename(etc + "/shadow.new", etc + "/shadow") == 0 else { throw WorldError("shadow could not be written") }
    }

    /// Puts something else, or nothing, in the shadow file's place.
    func replaceShadow(_ kind: Unreadable) throws {
      let file = etc + "/shadow"
      guard rename(file, etc + "/shadow.aside") == 0 else { throw WorldError("shadow could not be put aside") }
      switch kind {
      case .missing: break
      case .folder: try world.folder.makeFolder("etc/shadow")
      case .empty: try world.folder.write("", to: "etc/shadow", mode: 0o600)
      case .garbage: try world.folder.write("daemon\n::::\n\u{1}\n", to: "etc/shadow", mode: 0o600)
      }
    }

    func putShadowBack() throws {
      try? FileManager.default.removeItem(atPath: etc + "/shadow")
      guard rename(etc + "/shadow.aside", etc + "/shadow") == 0 else {
        throw WorldError("shadow could not be put back")
      }
    }

    /// Runs a tool where whorld is.
    func run(_ words: [String], beside daemon: RunningProgram) async throws {
      let result = try await RunningProgram.run(
        "/usr/bin/nsenter", ["-t", "\(daemon.pid)", "-m", "--"] + words,
        environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
      try #require(result.status == 0, "\(words): \(result.errorText)")
    }

    func unlock() async throws {
      let program = try world.startOnTerminal(["unlock"], user: ShadowTests.uid)
      try await program.waitFor("Your password")
      try program.write(ShadowTests.password + "\n")
      let result = try await program.wait()
      #expect(result.status == 0, "\(result.text)")
    }

    func whorl(_ words: [String], to input: String = "") async throws -> RunningProgram.Result {
      try await world.whorl(words, to: input, user: ShadowTests.uid)
    }

    /// One secret that ends with the password, and one that does not.
    func fill() async throws {
      for (name, accessible) in [("bound", "when-passcode-set"), ("free", "after-first-unlock")] {
        let set = try await whorl(["set", name, "--require", "none", "--accessible", accessible], to: name)
        #expect(set.status == 0, "\(set.errorText)")
      }
      #expect(try await whorl(["get", "bound"]).text == "bound")
    }

    func expectGone() async throws {
      let get = try await whorl(["get", "bound"])
      #expect(get.status != 0 && get.output.isEmpty, "\(get.errorText)")
      let list = try await whorl(["list"])
      #expect(
        list.text.split(separator: "\n").contains { $0.hasPrefix("bound") && $0.contains("gone") }, "\(list.text)")
    }
  }

  /// What can be in the place of a shadow file that cannot be read.
  enum Unreadable: CaseIterable { case missing, folder, empty, garbage }

  /// Ways to remove a password.
  enum Removal: CaseIterable { case passwd, usermod, editor }

  private func remove(_ removal: Removal, _ copy: Copy, beside daemon: RunningProgram) async throws {
    switch removal {
    case .passwd: try await copy.run(["passwd", "-d", Self.name], beside: daemon)
    case .usermod: try await copy.run(["usermod", "-p", "", Self.name], beside: daemon)
    case .editor: try copy.setPassword("")
    }
  }

  @Test(arguments: Removal.allCases)
  func `A removed password ends what was to end with it, at the next use`(removal: Removal) async throws {
    let copy = try await Copy()
    let daemon = try await copy.start()
    try await copy.unlock()
    try await copy.fill()
    try await remove(removal, copy, beside: daemon)
    try await copy.expectGone()
    #expect(try await copy.whorl(["get", "free"]).text == "free")
    // For good, also with a password again.
    try copy.setPassword()
    try await copy.expectGone()
  }

  @Test(arguments: Removal.allCases)
  func `A password removed while whorld does not run, or does not look, ends it at the start`(
    removal: Removal
  ) async throws {
    let copy = try await Copy()
    var daemon = try await copy.start()
    try await copy.unlock()
    try await copy.fill()
    try await remove(removal, copy, beside: daemon)
    daemon = try await copy.restart(daemon)
    // Nobody asks for it: the list alone.
    while try await !copy.whorl(["list"]).text.contains("gone") { try Task.checkCancellation() }
    daemon = try await copy.restart(daemon) { try copy.setPassword() }
    try await copy.unlock()
    try await copy.expectGone()
    #expect(try await copy.whorl(["get", "free"]).text == "free")
  }

  @Test(arguments: [["usermod", "-L"], ["passwd", "-l"], ["usermod", "-p", "!"], ["usermod", "-p", "*"]])
  func `A locked account has not lost its password`(words: [String]) async throws {
    let copy = try await Copy()
    var daemon = try await copy.start()
    try await copy.unlock()
    try await copy.fill()
    try await copy.run(words + [Self.name], beside: daemon)
    #expect(try await copy.whorl(["get", "bound"]).text == "bound")
    daemon = try await copy.restart(daemon)
    #expect(try await !copy.whorl(["list"]).text.contains("gone"))
    daemon = try await copy.restart(daemon) { try copy.setPassword() }
    try await copy.unlock()
    #expect(try await copy.whorl(["get", "bound"]).text == "bound")
  }

  @Test(arguments: Unreadable.allCases)
  func `A shadow file that cannot be read says nothing of a password`(kind: Unreadable) async throws {
    let copy = try await Copy()
    var daemon = try await copy.start()
    try await copy.unlock()
    try await copy.fill()
    try copy.replaceShadow(kind)
    #expect(try await copy.whorl(["get", "bound"]).text == "bound")
    daemon = try await copy.restart(daemon)
    #expect(try await !copy.whorl(["list"]).text.contains("gone"))
    daemon = try await copy.restart(daemon) { try copy.putShadowBack() }
    try await copy.unlock()
    #expect(try await copy.whorl(["get", "bound"]).text == "bound")
  }
}
