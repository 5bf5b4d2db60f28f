internal import CFPrint
internal import CGLib
public import GLibLoop
public import ReaderLink

/// GLib's and libfprint's own messages: dropped, for drivers log what they read from the sensor. One of them is listened
/// to, as libfprint tells it in no other way: that a device which it has a driver for could not be set up.
@GLibActor
public final class LibraryLog {
  /// Told why a device is missing from the list of readers.
  public var onIgnoredDevice: (@GLibActor (ReaderError) -> Void)?

  private nonisolated static let ignoring = "Ignoring device due to initialization error: "

  /// Takes the messages over; once a process, before anything else of libfprint. Lives as long as the process.
  public nonisolated init() {
    g_log_set_writer_func({ _, _, _, _ in G_LOG_WRITER_HANDLED }, nil, nil)
    // libfprint's messages come here and not to the writer.
    g_log_set_default_handler(
      { _, _, text, data in LibraryLog.receive(text, data) }, Unmanaged.passRetained(self).toOpaque())
  }

  private nonisolated static func receive(_ text: UnsafePointer<gchar>?, _ data: gpointer?) {
    // GUsb has a thread of its own; this message comes on the loop's.
    guard let text, let data, g_main_context_is_owner(nil) != 0 else { return }
    let message = String(cString: text)
    guard message.hasPrefix(ignoring) else { return }
    let log = Unmanaged<LibraryLog>.fromOpaque(data).takeUnretainedValue()
    GLibActor.assumeIsolated { log.onIgnoredDevice?(ReaderError(ignoring: String(message.dropFirst(ignoring.count)))) }
  }
}
