internal import ReaderLink

/// What this module knows of libfprint's format FP3: enough to tell a print from anything else. Only the bridge, which
/// has no keys, takes one apart.
enum PrintFormat {
  /// No print is larger. Readers that compare images keep the most, some kilobytes.
  static let limit = 1 << 20

  /// Why these bytes are no print; nil where they may be one.
  static func fault(_ bytes: [UInt8]) -> String? {
    if bytes.isEmpty { return "it is empty" }
    if bytes.count > limit { return tooLarge }
    if !bytes.starts(with: Array("FP3".utf8)) { return "it does not begin as libfprint's prints do" }
    if bytes.count == 3 { return "it is cut short" }
    return nil
  }

  static let tooLarge = "it is larger than 1 MiB"
}

extension Finger {
  /// The name of the finger's file: one hexadecimal digit, as fprintd writes it.
  var fileName: String { String(rawValue, radix: 16) }

  /// The finger whose file has this name.
  init?(fileName: String) {
    guard let finger = Finger.allCases.first(where: { $0.fileName == fileName }) else { return nil }
    self = finger
  }
}
