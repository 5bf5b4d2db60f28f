internal import Glibc

/// The C library's words, for messages.
enum SystemText {
  /// What an errno means, in English whatever the locale.
  static func error(_ code: Int32) -> String {
    // The locale is never set, so that strerror_l's "C" is what strerror gives; the buffer makes it safe for threads.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else { return "error \(code)" }
      return String(cString: base)
    }
  }
}
