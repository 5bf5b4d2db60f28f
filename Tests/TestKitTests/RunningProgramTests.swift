import Foundation
import TestKit
import Testing

@Suite struct RunningProgramTests {
  @Test func `Output, errors and status of a program arrive whole`() async throws {
    let result = try await RunningProgram.run(
      "/bin/sh", ["-c", "head -c 300000 /dev/zero; echo no >&2; exit 7"], environment: [:])
    #expect(result.end == .exited(7))
    #expect(result.output.count == 300_000)
    #expect(result.errorText == "no\n")
  }

  @Test func `A program is fed line by line and its answers are waited for`() async throws {
    let cat = try RunningProgram("/bin/cat")
    try cat.write("one\n")
    #expect(try await cat.waitFor("one\n") == "one\n")
    try cat.write("two\n")
    #expect(try await cat.waitFor("two\n", skipping: 4) == "one\ntwo\n")
    cat.closeInput()
    #expect(try await cat.wait().end == .exited(0))
  }

  @Test func `Waiting for words of a program that ends without them fails`() async throws {
    let program = try RunningProgram("/bin/echo", ["something"])
    await #expect(throws: TestKitError.self) { try await program.waitFor("else") }
  }

  @Test func `A program that is stopped by a signal says so`() async throws {
    let program = try RunningProgram("/bin/cat")
    program.signal(SIGTERM)
    #expect(try await program.wait().end == .signalled(SIGTERM))
    program.signal(SIGKILL)
    #expect(!program.isRunning)
  }

  @Test func `A program whose last reference goes is ended`() async throws {
    var program: RunningProgram? = try RunningProgram("/bin/sh", ["-c", "echo $$; exec cat"])
    let pid = try #require(program?.pid)
    try await program?.waitFor("\(pid)\n")
    program = nil
    // Reaped by its own thread: a pid that answers ESRCH is gone. Bounded by the test's time limit.
    while kill(pid, 0) == 0 { await Task.yield() }
    #expect(errno == ESRCH)
  }

  @Test func `A program that is not there is named`() {
    #expect { try RunningProgram("/nonexistent/program") } throws: { "\($0)".contains("/nonexistent/program") }
  }

  @Test(.enabled(if: getuid() == 0, "only root can become another user"))
  func `A program runs as the user that was asked for`() async throws {
    #expect(try await RunningProgram.run("/usr/bin/id", ["-u"], user: 65534).text == "65534\n")
  }
}
