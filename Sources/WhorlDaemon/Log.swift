internal import Glibc

/// The daemon's log: one line on standard error each, with the journal's priority prefix (sd-daemon(3)) where the
/// journal reads it. Never holds a secret, a print or the plain name of an item.
public enum Log {
  /// Something worth knowing in normal operation.
  public static func notice(_ text: String) { write(priority: 5, text) }
  /// Something that is wrong but handled.
  public static func warning(_ text: String) { write(priority: 4, text) }
  /// Something that failed.
  public static func failure(_ text: String) { write(priority: 3, text) }

  private static func write(priority: Int, _ text: String) {
    // Control characters out of a device's name must not forge lines.
    let clean = String(
      String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : $0 }))
    let prefix = getenv("JOURNAL_STREAM") != nil ? "<\(priority)>" : ""
    var line = Array((prefix + clean + "\n").utf8)
    line.withUnsafeMutableBytes { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }
}
