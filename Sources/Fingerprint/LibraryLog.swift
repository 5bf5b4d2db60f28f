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
    g_log_set_writer_func(
      { _, fields, count, data in
        // Drivers of USB devices have threads of their own; this message comes on the loop's.
        guard let data, let fields, g_main_context_is_owner(nil) != 0 else { return G_LOG_WRITER_HANDLED }
        guard let text = LibraryLog.message(UnsafeBufferPointer(start: fields, count: Int(count))) else {
          return G_LOG_WRITER_HANDLED
        }
        let log = Unmanaged<LibraryLog>.fromOpaque(data).takeUnretainedValue()
        GLibActor.assumeIsolated { log.onIgnoredDevice?(ReaderError(ignoring: text)) }
        return G_LOG_WRITER_HANDLED
      }, Unmanaged.passRetained(self).toOpaque(), nil)
    g_log_set_default_handler({ _, _, _, _ in }, nil)
  }

  /// What is wrong with the device, if that is what the message is about.
  private nonisolated static func message(_ fields: UnsafeBufferPointer<GLogField>) -> String? {
    for field in fields where field.length < 0 && String(cString: field.key) == "MESSAGE" {
      guard let value = field.value else { return nil }
      let text = String(cString: value.assumingMemoryBound(to: CChar.self))
      return text.hasPrefix(ignoring) ? String(text.dropFirst(ignoring.count)) : nil
    }
    return nil
  }
}
