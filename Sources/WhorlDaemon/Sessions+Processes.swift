internal import Glibc

/// What the kernel says of a process.
extension Sessions {
  /// The uid of the user among whose services a process runs (`/user.slice/user-UID.slice/user@UID.service/…`), whatever
  /// uid it has itself.
  static func sliceOwner(_ pid: UInt32) -> UInt32? {
    let file = open("/proc/\(pid)/cgroup", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 4096)
    let length = read(file, &text, text.count)
    guard length > 0 else { return nil }
    return sliceOwner(in: String(decoding: text[..<length], as: UTF8.self))
  }

  /// As ``sliceOwner(_:)`` for the text of a process's cgroup file.
  nonisolated static func sliceOwner(in text: String) -> UInt32? {
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "/")
      guard parts.count > 3, parts[1] == "user.slice", parts[3].hasPrefix("user@"), parts[3].hasSuffix(".service"),
        let owner = UInt32(parts[3].dropFirst("user@".count).dropLast(".service".count)),
        parts[2] == "user-\(owner).slice"
      else { continue }
      return owner
    }
    return nil
  }

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
