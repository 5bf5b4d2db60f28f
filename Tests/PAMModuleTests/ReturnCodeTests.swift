import TestKit
import Testing

extension ModuleSuite {
  /// The contract of pam_whorl(8), through pamtester and libpam itself.
  @Suite struct ReturnCodeTests {
    struct Situation: Sendable, CustomTestStringConvertible {
      let steps: [Step]
      let word: String
      let testDescription: String

      init(_ name: String, _ word: String, _ steps: Step...) {
        (testDescription, self.word, self.steps) = (name, word, steps)
      }

      static func error(_ name: String, _ word: String = Bench.Word.unavailable) -> Situation {
        Situation(name, word, .error("org.whorl.Error.\(name)"))
      }
    }

    @Test(arguments: [
      Situation("match", Bench.Word.granted, .progress("waiting"), .progress("matched"), .reply()),
      Situation("match after misses", Bench.Word.granted, .progress("no-match", ["tries-left": 1]), .reply()),
      .error("AuthenticationFailed", Bench.Word.wrong),
      .error("NoSuchUser", Bench.Word.unknownUser),
      .error("BiometryNotAvailable"), .error("BiometryNotEnrolled"), .error("BiometryLockout"), .error("Busy"),
      .error("TimedOut"), .error("Denied"), .error("UserCancel"), .error("UserFallback"), .error("SystemCancel"),
      .error("ReaderFailed"), .error("StoreUnavailable"), .error("Failed"), .error("Param"), .error("NewerThanThis"),
      Situation("error of the bus", Bench.Word.unavailable, .error("org.freedesktop.DBus.Error.AccessDenied")),
      Situation("error of another kind", Bench.Word.unavailable, .error("com.example.Success")),
      Situation("death", Bench.Word.unavailable, .progress("waiting"), .die),
    ])
    func `each answer of whorld has its PAM code`(_ situation: Situation) async throws {
      let bench = try await Bench()
      try bench.writeService()
      let word = try await bench.withWhorld(situation.steps) {
        try await PamWrapperLock.hold { try await bench.pamtester() }
      }
      #expect(word == situation.word)
    }

    @Test func `setcred succeeds without a daemon`() async throws {
      let bench = try await Bench()
      try bench.writeService()
      let word = try await PamWrapperLock.hold {
        try await bench.pamtester(operations: ["setcred(PAM_ESTABLISH_CRED)"])
      }
      #expect(word == Bench.Word.credentials)
    }

    @Test(arguments: [nil, "unix:path=/nonexistent/bus", "unix:path=/dev/null", "nonsense"])
    func `no daemon and no bus are unavailable`(address: String?) async throws {
      let bench = try await Bench()
      try bench.writeService()
      var environment = bench.environment
      if let address { environment["DBUS_SYSTEM_BUS_ADDRESS"] = address }
      let word = try await PamWrapperLock.hold { try await bench.pamtester(environment: environment) }
      #expect(word == Bench.Word.unavailable)
    }
  }
}
