import Foundation
import GLibLoop
import ReaderKeeper
import TestKit

/// A keeper of the fake bridge; the fault shows in its first process alone when `once`.
@GLibActor
final class FakeSetup {
  let keeper: ReaderKeeper
  /// Why bridges failed.
  let reasons = Told<String>()
  private let folder: TemporaryFolder
  private let arrived: AsyncStream<Void>

  /// Waits until the bridge has read so many requests (with the faults that tell it).
  func arrivals(_ count: Int) async {
    var iterator = arrived.makeAsyncIterator()
    for _ in 0..<count { await iterator.next(isolation: GLibActor.shared) }
  }

  init(
    _ fault: String, once: Bool = true, seed: Int = 0, _ change: (inout ReaderKeeper.Limits) -> Void = { _ in }
  ) throws {
    folder = try TemporaryFolder()
    var environment = ["FAKE_FAULT": fault, "FAKE_SEED": "\(seed)", "FAKE_PID": folder("pid")]
    environment["FAKE_ONCE"] = once ? folder("faulted") : nil
    environment["FAKE_REPAIRED"] = folder("repaired")
    var limits = ReaderKeeper.Limits.standard
    limits.start = fault == "silent" ? 300 : 60_000
    limits.pong = fault == "no pong" ? 300 : fault.hasSuffix("loops") ? 2000 : 60_000
    limits.cancel = 1000
    change(&limits)
    keeper = ReaderKeeper(program: try BuiltPrograms.path("fake-bridge"), environment: environment, limits: limits)
    let (arrived, sink) = AsyncStream<Void>.makeStream()
    self.arrived = arrived
    keeper.onFingerStatus = { _, _, _ in sink.yield() }
    keeper.onBridgeFailed = { [reasons] in reasons.add($0) }
  }

  /// From now on bridges behave.
  func repair() { _ = FileManager.default.createFile(atPath: folder("repaired"), contents: nil) }

  /// The process that was started last.
  var lastProcess: Int32? {
    (try? String(contentsOfFile: folder("pid"), encoding: .utf8)).flatMap { Int32($0) }
  }
}
