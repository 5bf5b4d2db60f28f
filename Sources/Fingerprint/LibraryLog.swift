internal import CFPrint
internal import CGLib

/// GLib's and libfprint's own messages.
public enum LibraryLog {
  /// Drops them all: drivers log what they read from the sensor. Once a process, before anything else of libfprint.
  public static func silence() {
    g_log_set_writer_func({ _, _, _, _ in G_LOG_WRITER_HANDLED }, nil, nil)
    g_log_set_default_handler({ _, _, _, _ in }, nil)
  }
}
