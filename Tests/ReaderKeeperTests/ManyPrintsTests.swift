import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// Identification among the prints of all users, as before an enrolment.
@Suite(.timeLimit(.minutes(5))) struct ManyPrintsTests {
  init() { GLibLoop.startThread() }

  @Test @GLibActor func `one touch is told from a thousand prints, and a damaged one among them is named`() async throws
  {
    let setup = try await VirtualSetup()
    let arch = try await setup.enroll(.arch)
    let whorl = try await setup.enroll(.whorl)
    var prints = Array(repeating: arch, count: 1000)
    prints[3] = Array(arch.dropLast(7))
    prints[998] = whorl
    let unusable = Told<[Int]>()
    async let found = setup.keeper.identify(setup.reader, prints: prints, unusable: { unusable.add($0) })
    try await setup.touch(.whorl, 7)
    #expect(try await found == 998)
    #expect(unusable.values == [[3]])
    await setup.keeper.stop()
  }
}
