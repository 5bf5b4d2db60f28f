/// What status codes mean, in one line for people.
enum StatusText {
  /// The line for a code; nil for one that there is not.
  static func line(for status: OSStatus) -> String? {
    for table in [itemStatus, queryStatus, parameterStatus, moduleStatus, fieldStatus, trustStatus, timestampStatus] {
      if let line = table[status] { return line }
    }
    return nil
  }
}

/// What a status code means, in one line for people. The words are Whorl's, not Apple's.
/// - Parameters:
///   - status: any code; one that is not known is named by its number.
///   - reserved: nil.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
  StatusText.line(for: status) ?? "The status code \(status) is not known."
}
