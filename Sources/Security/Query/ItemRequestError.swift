/// Why a dictionary that was given to a function of Security is refused.
package struct ItemRequestError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the function returns.
  package let status: OSStatus
  /// One line for programmers that names the key. It never holds a value.
  package let message: String

  /// An error of that status.
  package init(_ status: OSStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  /// The message.
  package var description: String { message }
}

extension NSError {
  /// A status code as an error in NSOSStatusErrorDomain.
  /// - Parameter message: one line for people; by default what the code means.
  package static func status(_ status: OSStatus, _ message: String? = nil) -> NSError {
    NSError(
      domain: NSOSStatusErrorDomain, code: Int(status),
      userInfo: [NSLocalizedDescriptionKey: message ?? SecCopyErrorMessageString(status, nil) ?? ""])
  }
}

/// Where refusals are noted, since a status code cannot say which key it was.
package enum SecLog {
  /// Notes why a call was refused: on the terminal where standard error is one or `SECURITY_LOG_STDERR` is set, in the
  /// system's log otherwise.
  package static func refuse(_ error: ItemRequestError) {
    let line = "Security: \(error.message) (status \(error.status))"
    if isatty(STDERR_FILENO) == 1 || ProcessInfo.processInfo.environment["SECURITY_LOG_STDERR"] != nil {
      // Not by FileHandle, which ends the program where standard error is closed.
      let bytes = Array((line + "\n").utf8)
      _ = write(STDERR_FILENO, bytes, bytes.count)
    } else {
      // The line is an argument and no format: keys are written by whoever calls.
      line.withCString { text in withVaList([text]) { vsyslog(LOG_USER | LOG_NOTICE, "%s", $0) } }
    }
  }
}
