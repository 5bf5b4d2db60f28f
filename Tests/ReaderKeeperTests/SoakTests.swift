import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct SoakTests {
  @Test func `500 random operations with bridges killed and readers unplugged leave nothing behind`() async throws {
    let result = try await RunningProgram.run(
      try BuiltPrograms.path("keeper-soak"), [try BuiltPrograms.path("whorl-reader"), "500", "7"], seconds: 500)
    #expect(result.text.hasPrefix("ended=500 descriptors=0 children=0 bridge=0\n"), "\(result.text)\(result.errorText)")
  }
}
