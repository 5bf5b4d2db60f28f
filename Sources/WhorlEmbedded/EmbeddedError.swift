internal import EmbeddedLink
public import Foundation

/// Why an enclave of the program's own, or something done with it, failed.
public struct EmbeddedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What it was.
  public let code: Code
  /// One line for people: what happened, to which thing, what next.
  public let message: String

  /// An error of this kind.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }

  /// The kinds of errors.
  public enum Code: Hashable, Sendable {
    /// This process has an enclave already: Apple's functions know one.
    case alreadyRunning
    /// The folder cannot be used, or others could.
    case unsafeFolder
    /// Another process has an enclave in this folder.
    case folderInUse
    /// A program, or something else that an enclave needs, is missing or does not start.
    case cannotStart
    /// The enclave was stopped, or one of its programs has ended.
    case ended
    /// There is no fingerprint reader.
    case noReader
    /// The reader, or the enrolment on it, failed: the finger may be enrolled already.
    case readerFailed
    /// There is no such enrolled finger.
    case noSuchFinger
    /// The finger is enrolled and opens no secret: no passcode was given for it. ``EmbeddedEnclave/register(finger:)`` asks
    /// again.
    case notRegistered
    /// An argument makes no sense.
    case invalidArgument
    /// The task was cancelled.
    case cancelled
    /// Anything else.
    case failed
  }
}

extension EmbeddedError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}

extension EmbeddedError.Code {
  init(_ failure: EmbeddedLink.Failure) {
    self =
      switch failure {
      case .folderInUse: .folderInUse
      case .cannotStart: .cannotStart
      case .param: .invalidArgument
      case .noReader: .noReader
      case .readerFailed: .readerFailed
      case .noSuchFinger: .noSuchFinger
      case .notRegistered: .notRegistered
      case .cancelled: .cancelled
      case .failed: .failed
      }
  }
}
