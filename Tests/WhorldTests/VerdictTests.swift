import Enclave
import Keychain
import Testing

@testable import WhorlDaemon

/// What several readers that waited for one request came to.
@Suite struct VerdictTests {
  private typealias Verdict = Result<MatchOutcome, SensorError>
  private let miss = Verdict.success(.noMatch(readers: 1))
  private let match = Verdict.success(
    .match(Touch(request: 1, user: UserID(1000), finger: "left-thumb", reader: "a/0", print: [1], place: nil)))
  private let ended = Verdict.failure(.cancelled)

  @Test func `Each reader that saw a wrong finger counts`() {
    #expect(ReaderSensor.verdict(of: [miss, ended]) == miss)
    #expect(ReaderSensor.verdict(of: [miss, ended, miss]) == .success(.noMatch(readers: 2)))
  }

  @Test func `A match goes before a miss, and a verdict before a failure`() {
    #expect(ReaderSensor.verdict(of: [miss, match]) == match)
    #expect(ReaderSensor.verdict(of: [.failure(.failed("broken")), miss]) == miss)
    #expect(ReaderSensor.verdict(of: [ended, .failure(.failed("broken"))]) == .failure(.failed("broken")))
    #expect(ReaderSensor.verdict(of: [ended, ended]) == ended)
  }
}
