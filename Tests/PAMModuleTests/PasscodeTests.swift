import Foundation
import TestKit
import Testing

/// whorl-passcode with a PAM service folder of its own; pam_wrapper's pam_matrix stands in for pam_unix.
@Suite struct PasscodeTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The exit status and what was written, for a passcode on standard input.
  private func check(
    _ passcode: String, user: String = "alice", arguments: [String]? = nil
  ) async throws -> (status: Int32?, text: String) {
    let ended = try await RunningProgram.run(
      try PasscodeTests.program(), arguments ?? [user, "--confdir", folder.path],
      environment: Bench.plainEnvironment, input: passcode)
    return (ended.status, ended.text + ended.errorText)
  }

  private static func program() throws -> String {
    guard let folder = ProcessInfo.processInfo.environment["WHORL_PROGRAMS"] else {
      return try BuiltPrograms.path("whorl-passcode")
    }
    return folder + "/whorl-passcode"
  }

  private func writeService(_ text: String) throws { try folder.write(text, to: "whorl-passcode") }

  private func writeMatrixService() throws {
    let matrix = try Bench.pamWrapper("pam_wrapper/pam_matrix.so")
    let module = "\(matrix) passdb=\(try folder.write("alice:correct horse:whorl-passcode\n", to: "db"))"
    try writeService("auth required \(module)\naccount required \(module)\n")
  }

  @Test func `the right passcode is right and any other is wrong`() async throws {
    try writeMatrixService()
    #expect(try await check("correct horse") == (0, ""))
    for passcode in ["correct horse\n", "Correct horse", "c", String(repeating: "x", count: 4096), "käse"] {
      #expect(try await check(passcode) == (1, ""))
    }
  }

  @Test func `an empty passcode and one with a NUL are wrong whatever PAM would say`() async throws {
    try writeService("auth required pam_permit.so\naccount required pam_permit.so\n")
    #expect(try await check("") == (1, ""))
    #expect(try await check("correct\0horse") == (1, ""))
    #expect(try await check("anything") == (0, ""))
  }

  @Test(arguments: [
    ("auth_err", "success", Int32(1)), ("maxtries", "success", 1), ("user_unknown", "success", 2),
    ("acct_expired", "success", 2), ("authinfo_unavail", "success", 3), ("ignore", "success", 3),
    ("success", "acct_expired", 2), ("success", "new_authtok_reqd", 2), ("success", "user_unknown", 2),
    ("success", "perm_denied", 2), ("success", "auth_err", 2), ("success", "service_err", 3), ("success", "success", 0),
    ("success", "ignore", 2),
  ])
  func `PAM's codes have their exit statuses`(auth: String, account: String, status: Int32) async throws {
    try writeService("auth required pam_debug.so auth=\(auth)\naccount required pam_debug.so acct=\(account)\n")
    #expect(try await check("passcode").status == status)
  }

  @Test func `without a service file of its own nobody is asked, although there is another`() async throws {
    try folder.write("auth required pam_permit.so\naccount required pam_permit.so\n", to: "other")
    let answer = try await check("passcode")
    #expect(answer.status == 3)
    #expect(
      answer.text == "whorl-passcode: there is no PAM service whorl-passcode in \(folder.path); install Whorl again\n")
  }

  @Test func `only a hidden prompt gets the passcode`() async throws {
    let matrix = try Bench.pamWrapper("pam_wrapper/pam_matrix.so")
    let database = try folder.write("alice:correct horse:whorl-passcode\n", to: "db")
    // "echo" makes pam_matrix ask in the clear.
    try writeService("auth required \(matrix) echo passdb=\(database)\n")
    #expect(try await check("correct horse").status == 3)
  }

  @Test(arguments: [
    [], [""], ["-x"], ["alice", "--confdir"], ["alice", "--confdir", "relative"], ["alice", "bob"], ["--"],
    ["alice", "--confdir", "/", "more"], [String(repeating: "u", count: 256)],
  ])
  func `other arguments get the usage`(arguments: [String]) async throws {
    let answer = try await check("x", arguments: arguments)
    #expect(answer == (3, "whorl-passcode: usage: whorl-passcode [--] USER [--confdir DIR] < PASSCODE\n"))
  }

  @Test func `more than 4096 bytes are refused`() async throws {
    try writeService("auth required pam_permit.so\naccount required pam_permit.so\n")
    let answer = try await check(String(repeating: "x", count: 4097))
    #expect(answer == (3, "whorl-passcode: the passcode has more than 4096 bytes; no account has such a one\n"))
  }
}
