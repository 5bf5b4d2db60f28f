internal import CFPrint

/// One picture from a reader, 8-bit grey, row by row from the top.
public struct Image: Sendable, Hashable {
  /// In pixels.
  public let width: Int
  /// In pixels.
  public let height: Int
  /// `width * height` bytes.
  public let pixels: [UInt8]

  /// Copies a libfprint image, which stays the caller's (transfer none).
  init(copying image: OpaquePointer) {
    width = Int(fp_image_get_width(image))
    height = Int(fp_image_get_height(image))
    var length: gsize = 0
    // Owned by the image (transfer none).
    let data = fp_image_get_data(image, &length)
    let bytes = UnsafeBufferPointer(start: data, count: Int(length))
    pixels = Array(bytes)
  }
}
