internal import WhorlClient

/// Runs a call of the enclave, which waits, on a thread of its own.
/// - Throws: an `NSError`: of NSOSStatusErrorDomain where it is about an item, else of ``LAErrorDomain``.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws(WhorlError) -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    let isStarted = LibraryThread.start {
      do throws(WhorlError) { continuation.resume(returning: try body()) } catch {
        continuation.resume(throwing: NSError.item(error))
      }
    }
    if !isStarted { continuation.resume(throwing: NSError.item(LibraryThread.unavailable)) }
  }
}

extension NSError {
  fileprivate static func item(_ error: WhorlError) -> NSError {
    switch error.code {
    case .itemNotFound, .itemInvalidated: .status(errSecItemNotFound, error.message)
    case .duplicateItem: .status(errSecDuplicateItem, error.message)
    case .tooLarge: .status(errSecDataTooLarge, error.message)
    case .param: .status(errSecParam, error.message)
    default: .localAuthentication(error)
    }
  }
}
