import Foundation

/// A grey image as a reader takes it: 8 bits a pixel, row by row, ridges dark.
public struct FingerImage: Sendable, Equatable {
  /// Pixels in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// `width * height` bytes, from 0 (black) to 255 (white).
  public let pixels: [UInt8]

  /// An image of these pixels; there must be `width * height` of them.
  public init(width: Int, height: Int, pixels: [UInt8]) {
    precondition(pixels.count == width * height, "an image of \(width) x \(height) needs as many pixels")
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// What is wrong with a PGM file.
  public struct NotPGM: Error, CustomStringConvertible {
    /// One line for people.
    public let description: String
  }

  /// Reads a binary PGM file (P5) of at most 8 bits a pixel. Throws `NotPGM`, or Foundation's error when unreadable.
  public init(pgm path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var at = 0
    func word() -> String {
      while at < bytes.count {
        if bytes[at] == UInt8(ascii: "#") {
          while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { at += 1 }
        } else if bytes[at] <= 32 {
          at += 1
        } else {
          break
        }
      }
      let start = at
      while at < bytes.count, bytes[at] > 32 { at += 1 }
      return String(decoding: bytes[start..<at], as: UTF8.self)
    }
    guard word() == "P5", let width = Int(word()), let height = Int(word()), let most = Int(word()) else {
      throw NotPGM(description: "\(path) is not a binary PGM file (P5)")
    }
    at += 1
    guard (1...5000).contains(width), (1...5000).contains(height), (1...255).contains(most),
      bytes.count - at >= width * height
    else { throw NotPGM(description: "\(path) is cut short, or not an 8-bit image of at most 5000 x 5000 pixels") }
    self.init(width: width, height: height, pixels: [UInt8](bytes[at..<(at + width * height)]))
  }

  /// Writes the image as a binary PGM file.
  public func write(pgm path: String) throws {
    try Data(Array("P5\n\(width) \(height)\n255\n".utf8) + pixels).write(to: URL(fileURLWithPath: path))
  }
}
