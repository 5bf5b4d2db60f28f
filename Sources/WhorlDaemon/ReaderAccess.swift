internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// What a ``ReaderStation`` needs of the ``ReaderKeeper``; tests bring their own.
@GLibActor
protocol ReaderAccess: AnyObject {
  /// The bridge's process number; nil while none runs.
  var processID: Int32? { get }
  /// As ``ReaderKeeper/ReaderKeeper/open(_:)``.
  func open(_ reader: ReaderID) async throws(ReaderError)
  /// As ``ReaderKeeper/ReaderKeeper/close(_:)``.
  func close(_ reader: ReaderID) async throws(ReaderError)
  /// As ``ReaderKeeper/ReaderKeeper/verify(_:print:progress:)``.
  func verify(
    _ reader: ReaderID, print: [UInt8], progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Bool
  /// As ``ReaderKeeper/ReaderKeeper/identify(_:prints:unusable:progress:)``.
  func identify(
    _ reader: ReaderID, prints: [[UInt8]], unusable: @escaping @GLibActor ([Int]) -> Void,
    progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Int?
}

extension ReaderKeeper: ReaderAccess {}
