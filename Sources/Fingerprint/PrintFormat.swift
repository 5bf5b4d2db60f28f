internal import CGLib

/// What a serialised print must look like before libfprint sees it: 1.94.5 ends the process over some damaged ones
/// (seen by fuzzing), and one damaged file must not cost the check against all others.
enum PrintFormat {
  /// The type of the whole, after the magic: kind, driver, device, on chip, finger, user, description, day, more, data.
  private static let envelope = "(issbymsmsia{sv}v)"
  /// The data of minutiae: for each touch three columns (x, y, angle) of the same length.
  private static let minutiae = "(a(aiaiai))"
  /// The kind whose data are minutiae.
  private static let minutiaeKind: Int32 = 2
  /// The longest column that the matcher can hold.
  private static let mostMinutiae = 200

  /// Whether sound bytes hold minutiae, the only kind that libfprint's matcher for images takes.
  static func holdsMinutiae(_ bytes: [UInt8]) -> Bool {
    bytes.dropFirst(3).prefix(4).elementsEqual([UInt8(minutiaeKind), 0, 0, 0])
  }

  /// Whether the bytes have that form throughout.
  static func isSound(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 3, bytes.starts(with: Array("FP3".utf8)) else { return false }
    // The file is little-endian, as every machine that Whorl is built for.
    return withVariant(envelope, bytes.dropFirst(3)) { print in
      guard g_variant_is_normal_form(print) != 0, g_variant_n_children(print) == 10 else { return false }
      let finger = child(print, 4) { g_variant_get_byte($0) }
      guard finger <= 10 else { return false }
      guard child(print, 0, { g_variant_get_int32($0) }) == minutiaeKind else { return true }
      return child(print, 9) { boxed in
        guard let data = g_variant_get_variant(boxed) else { return false }  // transfer full
        defer { g_variant_unref(data) }
        return String(cString: g_variant_get_type_string(data)) == minutiae && child(data, 0, areSound)
      }
    }
  }

  private static func areSound(_ touches: OpaquePointer) -> Bool {
    let count = g_variant_n_children(touches)
    guard count > 0 else { return false }
    return (0..<count).allSatisfy { index in
      child(touches, index) { touch in
        let lengths = (0..<3).map { column in child(touch, column) { g_variant_n_children($0) } }
        return lengths[0] == lengths[1] && lengths[0] == lengths[2] && lengths[0] <= mostMinutiae
      }
    }
  }

  /// Lends a child of a container.
  private static func child<R>(_ variant: OpaquePointer, _ index: gsize, _ body: (OpaquePointer) -> R) -> R {
    // Never nil for an index below the number of children; ours (transfer full).
    let child: OpaquePointer = g_variant_get_child_value(variant, index)
    defer { g_variant_unref(child) }
    return body(child)
  }

  private static func withVariant(
    _ type: String, _ bytes: ArraySlice<UInt8>, _ body: (OpaquePointer) -> Bool
  ) -> Bool {
    // Copies the bytes; untrusted, so that GLib checks each offset.
    let copy = bytes.withUnsafeBufferPointer { g_bytes_new($0.baseAddress, gsize($0.count)) }
    let kind = g_variant_type_new(type)
    defer {
      g_bytes_unref(copy)
      g_variant_type_free(kind)
    }
    // Floating: sinking makes it ours.
    guard let variant = g_variant_ref_sink(g_variant_new_from_bytes(kind, copy, 0)) else { return false }
    defer { g_variant_unref(variant) }
    return body(variant)
  }
}
