internal import CPosix
internal import Glibc

/// USB devices that are fingerprint readers although the bridge offers none: those that libfprint has no driver for, and
/// those that it has one for but could not get at.
///
/// libfprint itself ships the lists, as a hardware database for power management: drivers' devices first, then those that
/// are known and not supported.
struct UnlistedReaders: Sendable {
  /// One such device.
  struct Device: Sendable, Equatable {
    /// Vendor and product, such as `04f3:0c4c`.
    let id: String
    /// Whether libfprint has a driver for it.
    let isSupported: Bool
    /// Its device node.
    let node: String
  }

  /// The hardware databases, the first that is there counts.
  var lists = [
    "/usr/lib/udev/hwdb.d/60-autosuspend-libfprint-2.hwdb", "/lib/udev/hwdb.d/60-autosuspend-libfprint-2.hwdb",
    "/usr/lib/udev/hwdb.d/60-autosuspend-fingerprint-reader.hwdb",
  ]
  /// Where the kernel shows USB devices.
  var devices = "/sys/bus/usb/devices"

  /// The devices, at most 16 of them. None where the lists or the devices cannot be read.
  /// - Parameter ids: what ``ids()`` gave, where that was asked already.
  func find(_ ids: [String: Bool]? = nil) -> [Device] {
    let known = ids ?? self.ids()
    guard !known.isEmpty, let stream = opendir(devices) else { return [] }
    defer { closedir(stream) }
    var found: [Device] = []
    while let entry = readdir(stream), found.count < 16 {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard !name.hasPrefix("."), let vendor = attribute("idVendor", of: name),
        let product = attribute("idProduct", of: name), let isSupported = known["\(vendor):\(product)"]
      else { continue }
      found.append(Device(id: "\(vendor):\(product)", isSupported: isSupported, node: node(of: name)))
    }
    return found.sorted { $0.id < $1.id }
  }

  /// Each listed device, such as `04f3:0c4c`, and whether there is a driver for it; empty where no list can be read.
  func ids() -> [String: Bool] {
    for list in lists {
      guard let text = Self.read(list, limit: 1 << 20) else { continue }
      var ids: [String: Bool] = [:]
      var isSupported = true
      for line in text.split(separator: "\n") {
        if line.hasPrefix("#") {
          if line.lowercased().contains("unsupported") { isSupported = false }
        } else if let id = Self.id(in: line) {
          ids[id] = isSupported
        }
      }
      return ids
    }
    return [:]
  }

  /// `04f3:0c4c` of a line `usb:v04F3p0C4C*`.
  private static func id(in line: Substring) -> String? {
    guard line.hasPrefix("usb:v") else { return nil }
    let rest = line.dropFirst(5).lowercased()
    let vendor = rest.prefix(4)
    let product = rest.dropFirst(5).prefix(4)
    guard rest.dropFirst(4).hasPrefix("p"), vendor.count == 4, product.count == 4,
      (vendor + product).allSatisfy(\.isHexDigit)
    else { return nil }
    return "\(vendor):\(product)"
  }

  private func attribute(_ name: String, of device: String) -> String? {
    guard let text = Self.read("\(devices)/\(device)/\(name)", limit: 64) else { return nil }
    return text.split(whereSeparator: \.isWhitespace).first.map { $0.lowercased() }
  }

  private func node(of device: String) -> String {
    func padded(_ name: String) -> String {
      let digits = attribute(name, of: device) ?? "?"
      return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
    return "/dev/bus/usb/\(padded("busnum"))/\(padded("devnum"))"
  }

  private static func read(_ path: String, limit: Int) -> String? {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count < limit {
      let count = Glibc.read(file, &buffer, min(buffer.count, limit - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
