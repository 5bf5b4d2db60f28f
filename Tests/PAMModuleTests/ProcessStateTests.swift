import TestKit
import Testing

extension ModuleSuite {
  /// The module is a guest: the program's descriptors, threads, signals and memory are not its own.
  @Suite struct ProcessStateTests {
    static let answered: [Step] = [.progress("waiting"), .progress("no-match", ["tries-left": 1]), .reply()]
    static let shown = [
      "info Touch the fingerprint reader (whorl-test)", "info Fingerprint not recognised: one try left.", "result 0",
    ]

    @Test(arguments: [["--closed"], ["--blocked"], ["--closed", "--blocked"]])
    func `closed descriptors and blocked signals change nothing and are left as they were`(
      options: [String]
    ) async throws {
      let bench = try await Bench()
      try bench.writeService(options: "debug bogus")
      let lines = try await bench.withWhorld(ProcessStateTests.answered) { try await bench.host(options) }
      #expect(lines == ProcessStateTests.shown)
    }

    @Test func `an alarm of the program's rings on and cuts no wait short`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let steps: [Step] = [.progress("waiting"), .wait(milliseconds: 300), .reply()]
      let lines = try await bench.withWhorld(steps) { try await bench.host(["--alarm"]) }
      #expect(lines == ["info Touch the fingerprint reader (whorl-test)", "result 0", "alarms 1"])
    }

    @Test func `loaded, used and unloaded a thousand times, in forked children too`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let lines = try await bench.withWhorld([.reply()]) {
        try await bench.host(["--repeat=1000", "--children", "--setcred"])
      }
      #expect(lines == ["result 0", "setcred 0"])
    }

    @Test func `without a daemon a thousand loads leave nothing either`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      #expect(try await bench.host(["--repeat=1000", "--children"]) == ["result 9"])
    }

    @Test func `only PAM's three functions are exported and only three libraries are needed`() async throws {
      let module = try Bench.builtModule()
      let symbols = try await RunningProgram.run("/usr/bin/nm", ["-D", "--defined-only", module])
      let names = symbols.text.split(separator: "\n").compactMap { $0.split(separator: " ").last.map(String.init) }
      #expect(names.sorted() == ["pam_sm_authenticate", "pam_sm_chauthtok", "pam_sm_setcred"])
      let dynamic = try await RunningProgram.run("/usr/bin/readelf", ["-dW", module])
      let needed = dynamic.text.split(separator: "\n").filter { $0.contains("(NEEDED)") }.compactMap { line in
        line.split(separator: "[").last.map { String($0.prefix { $0 != "]" }) }
      }
      #expect(needed.sorted() == ["libc.so.6", "libpam.so.0", "libsystemd.so.0"])
      #expect(dynamic.text.contains("BIND_NOW"))
      let segments = try await RunningProgram.run("/usr/bin/readelf", ["-lW", module])
      #expect(segments.text.contains("GNU_RELRO"))
      #expect(segments.text.split(separator: "\n").contains { $0.contains("GNU_STACK") && $0.contains("RW ") })
    }
  }
}
