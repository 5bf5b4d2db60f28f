internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// What a ``ReaderStation`` needs of the ``ReaderBridges``; tests bring their own.
@GLibActor
protocol ReaderAccess: AnyObject {
  /// The number of the bridge process in which a reader is open; nil where it is in none that runs.
  func processID(of reader: ReaderID) -> Int32?
  /// Ends the process in which a reader is open where that one may not serve it any more.
  func review(_ reader: ReaderID) async
  /// As ``ReaderKeeper/ReaderKeeper/open(_:)``.
  func open(_ reader: ReaderID) async throws(ReaderError)
  /// As ``ReaderKeeper/ReaderKeeper/close(_:)``.
  func close(_ reader: ReaderID) async throws(ReaderError)
  /// As ``ReaderKeeper/ReaderKeeper/verify(_:print:progress:)``; `.moved` too.
  func verify(
    _ reader: ReaderID, print: [UInt8], progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Bool
  /// As ``ReaderKeeper/ReaderKeeper/identify(_:prints:unusable:progress:)``; `.moved` too.
  func identify(
    _ reader: ReaderID, prints: [[UInt8]], unusable: @escaping @GLibActor ([Int]) -> Void,
    progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Int?
}
