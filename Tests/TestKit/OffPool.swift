import Foundation

/// Runs blocking work on a thread of its own, so that a waiting test holds none of Swift's few pool threads.
public func offPool<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread {
      continuation.resume(with: Result { try body() })
    }
  }
}

/// What went wrong in a helper of the tests, in one line.
public struct TestKitError: Error, CustomStringConvertible {
  /// One line for people.
  public let description: String

  init(_ description: String) { self.description = description }

  /// The failed call with errno's own words.
  static func posix(_ what: String, _ code: Int32 = errno) -> TestKitError {
    TestKitError("\(what): \(String(cString: strerror(code)))")
  }
}
