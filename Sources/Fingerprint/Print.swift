internal import CFPrint
internal import CGLib
public import GLibLoop
public import ReaderLink

/// An enrolled fingerprint: a template of minutiae, or a reference to one in a reader's own storage.
@GLibActor
public final class Print {
  // A reference of ours (transfer full).
  let pointer: OpaquePointer
  /// Whether it holds minutiae; nil for a print that libfprint made itself.
  let holdsMinutiae: Bool?

  /// Takes the reference over (transfer full).
  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
    holdsMinutiae = nil
  }

  /// The print in these bytes, which libfprint or fprintd serialised (format FP3).
  ///
  /// - Throws: `.dataInvalid` for anything else.
  public init(deserializing bytes: [UInt8]) throws(ReaderError) {
    guard PrintFormat.isSound(bytes) else { throw .dataInvalid("the print is damaged or no print at all") }
    var error: UnsafeMutablePointer<GError>?
    // Copies what it needs of the bytes; gives a full reference.
    let print = bytes.withUnsafeBufferPointer { fp_print_deserialize($0.baseAddress, gsize($0.count), &error) }
    guard let print else { throw .dataInvalid(Self.text(taking: error)) }
    pointer = print
    holdsMinutiae = PrintFormat.holdsMinutiae(bytes)
  }

  /// The print as bytes for a file; fprintd reads and writes the same.
  ///
  /// - Throws: `.dataInvalid` where libfprint cannot write this kind of print.
  public func serialized() throws(ReaderError) -> [UInt8] {
    var data: UnsafeMutablePointer<guchar>?
    var length: gsize = 0
    var error: UnsafeMutablePointer<GError>?
    guard fp_print_serialize(pointer, &data, &length, &error) != 0, let data else {
      throw .dataInvalid(Self.text(taking: error))
    }
    // Ours (transfer full).
    defer { g_free(data) }
    return Array(UnsafeBufferPointer(start: data, count: Int(length)))
  }

  /// The finger it was enrolled with; nil when the template did not say.
  public var finger: Finger? { UInt8(exactly: fp_print_get_finger(pointer).rawValue).flatMap(Finger.init(rawValue:)) }

  /// The day it was enrolled on, as the digits YYYYMMDD; nil when the template did not say.
  public var enrolled: UInt32? {
    // The date stays the print's (transfer none).
    guard let date = fp_print_get_enroll_date(pointer), g_date_valid(date) != 0 else { return nil }
    return UInt32(g_date_get_year(date)) * 10000 + g_date_get_month(date).rawValue * 100 + UInt32(g_date_get_day(date))
  }

  /// The user it was enrolled for; empty when the template did not say.
  public var user: String { fp_print_get_username(pointer).map { String(cString: $0) } ?? "" }

  /// libfprint's identifier of the driver that it belongs to.
  public var driver: String { fp_print_get_driver(pointer).map { String(cString: $0) } ?? "" }

  /// libfprint's identifier of the device that it belongs to.
  public var deviceID: String { fp_print_get_device_id(pointer).map { String(cString: $0) } ?? "" }

  /// What its driver wrote about it; empty for nothing.
  public var description: String { fp_print_get_description(pointer).map { String(cString: $0) } ?? "" }

  /// Whether the template lives in the reader's own storage.
  public var isStoredOnReader: Bool { fp_print_get_device_stored(pointer) != 0 }

  /// Whether both are the same template.
  public func isEqual(to other: Print) -> Bool { fp_print_equal(pointer, other.pointer) != 0 }

  isolated deinit { g_object_unref(gpointer(pointer)) }

  private static func text(taking error: UnsafeMutablePointer<GError>?) -> String {
    guard let error else { return "the print cannot be read" }
    defer { g_error_free(error) }
    return error.pointee.message.map { String(cString: $0).printable } ?? "the print cannot be read"
  }
}
