import Foundation
import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// What real readers said once, through the real whorl-reader.
///
/// One after the other: a replay has the time limits of the real transfers.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: SharedMaterial.path("recordings") != nil, "shared/recordings is not here"),
  .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/umockdev-run"), "umockdev is not installed"))
struct RecordingTests {
  init() { GLibLoop.startThread() }

  @Test(arguments: [
    "aes2501", "aes3500", "elan-cobo", "elanspi", "nb1010", "upektc_img", "uru4000-4500", "vfs301", "vfs5011",
    "vfs7552",
  ])
  @GLibActor func `an image sensor's recording gives exactly its picture`(_ name: String) async throws {
    let recording = try Recording(name)
    let keeper = try recording.keeper()
    let reader = try #require(ReaderID.ids(of: try await keeper.readers()).first)
    try await keeper.open(reader)
    let image = try await keeper.capture(reader)
    try await keeper.close(reader)
    await keeper.stop()
    let expected = try recording.expectedImage()
    #expect(image.width == expected.width)
    #expect(image.height == expected.height)
    #expect(image.pixels == expected.pixels)
  }

  @Test @GLibActor func `a synaptics reader clears, enrols, verifies and deletes on its chip`() async throws {
    let recording = try Recording("synaptics")
    let keeper = try recording.keeper()
    let reader = try #require(ReaderID.ids(of: try await keeper.readers()).first)
    try await keeper.open(reader)
    try await keeper.clearStorage(reader)
    let print = try await keeper.enroll(reader, finger: nil, user: "") { _ in }
    #expect(try await keeper.verify(reader, print: print))
    try await keeper.deletePrint(reader, print: print)
    try await keeper.close(reader)
    await keeper.stop()
  }

  @Test @GLibActor func `an elanmoc reader enrols, lists, verifies, identifies and deletes on its chip`() async throws {
    let recording = try Recording("elanmoc")
    let keeper = try recording.keeper()
    let reader = try #require(ReaderID.ids(of: try await keeper.readers()).first)
    try await keeper.open(reader)
    let print = try await keeper.enroll(reader, finger: nil, user: "") { _ in }
    let stored = try await keeper.storedPrints(reader, known: [[], print])
    #expect(stored.map(\.knownIndex) == [1])
    let list = stored.map(\.bytes)
    #expect(try await keeper.verify(reader, print: print))
    #expect(try await keeper.identify(reader, prints: list) == 0)
    try await keeper.deletePrint(reader, print: print)
    try await keeper.close(reader)
    await keeper.stop()
  }
}
