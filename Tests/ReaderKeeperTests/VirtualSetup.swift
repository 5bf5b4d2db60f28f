import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// A keeper whose bridge, the real whorl-reader, finds libfprint's virtual image reader and nothing else.
@GLibActor
final class VirtualSetup {
  let keeper: ReaderKeeper
  let virtual: VirtualReader
  let reader: ReaderID
  private let folder: TemporaryFolder
  private var events: AsyncStream<Bool>.Iterator
  private let sink: AsyncStream<Bool>.Continuation

  init(open: Bool = true, limits: ReaderKeeper.Limits = .patient) async throws {
    folder = try TemporaryFolder()
    let socket = folder("image")
    virtual = VirtualReader(socket: socket)
    keeper = ReaderKeeper(
      program: try BuiltPrograms.path("whorl-reader"), arguments: ["--private"],
      environment: ["FP_VIRTUAL_IMAGE": socket, "FP_DRIVERS_WHITELIST": "virtual_image"], limits: limits)
    let (stream, sink) = AsyncStream<Bool>.makeStream()
    self.sink = sink
    events = stream.makeAsyncIterator()
    let readers = try await keeper.readers()
    reader = try #require(ReaderID.ids(of: readers).first)
    keeper.onFingerStatus = { _, needed, present in sink.yield(needed && !present) }
    if open { try await keeper.open(reader) }
  }

  /// Waits until the reader waits for a finger.
  func fingerNeeded() async {
    var iterator = events
    while let needed = await iterator.next(isolation: GLibActor.shared), !needed {}
    events = iterator
  }

  /// Puts a finger on the reader as soon as it waits for one.
  func touch(_ finger: SyntheticFinger, _ number: Int = 1) async throws {
    await fingerNeeded()
    try await virtual.press(finger, number)
  }

  /// Enrols a finger with five touches.
  func enroll(_ finger: SyntheticFinger, as name: Finger? = .rightIndex, user: String = "alice") async throws -> [UInt8]
  {
    async let print = keeper.enroll(reader, finger: name, user: user) { _ in }
    for number in 1...5 { try await touch(finger, number) }
    return try await print
  }

  /// One verification with one touch.
  func verify(_ print: [UInt8], with finger: SyntheticFinger, _ number: Int = 6) async throws -> Bool {
    async let matched = keeper.verify(reader, print: print)
    try await touch(finger, number)
    return try await matched
  }
}

/// What an operation ended with, so that a test can wait for a failure.
@GLibActor
func failure<R: Sendable>(_ body: @GLibActor () async throws -> R) async -> ReaderError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? ReaderError
  }
}

/// What callbacks told, in order.
@GLibActor
final class Told<Value: Sendable> {
  private(set) var values: [Value] = []

  func add(_ value: Value) { values.append(value) }
}

extension ReaderKeeper.Limits {
  /// Limits that no busy test machine runs into.
  static var patient: ReaderKeeper.Limits {
    var limits = ReaderKeeper.Limits.standard
    limits.start = 120_000
    limits.answer = 120_000
    limits.pong = 60_000
    limits.cancel = 60_000
    limits.settle = 60_000
    // An idle bridge that ends sees no reader come or go.
    limits.idle = 600_000
    return limits
  }
}
