internal import Glibc

/// What the kernel says of a process.
extension Sessions {
  /// What the kernel calls a process, which the program in it may have chosen: printable, at most 15 bytes.
  static func program(_ pid: UInt32) -> String? {
    let file = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 64)
    let length = read(file, &text, text.count)
    guard length > 0 else { return nil }
    // The program chooses it: nothing of it may look like our own words or move a terminal.
    let plain = text[..<length].filter {
      (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "(") && $0 != UInt8(ascii: ")")
    }
    return plain.isEmpty ? nil : String(decoding: plain.prefix(15), as: UTF8.self)
  }
}
