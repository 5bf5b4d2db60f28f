internal import Glibc
internal import Keychain
internal import ReaderLink

/// Finds out in sysfs where a reader stands. The bridge says only which of the devices it means; what that is, and
/// whether it can be unplugged, is the kernel's word alone.
///
/// A place says the same after a restart and after the reader was plugged in there again: the numbers that the kernel
/// gives in the order of finding (of buses, and the addresses of devices) are left out.
struct ReaderPlaces: Sendable {
  /// Where sysfs is: `/sys`, but in tests.
  var system = "/sys"
  /// In private mode the sockets of virtual readers, by driver; empty otherwise, so that none has a place.
  var virtualSockets: [String: String] = [:]

  /// The places on this machine, as far as the daemon's surroundings have any besides the real ones.
  init(_ surroundings: Surroundings) {
    guard surroundings.isPrivate else { return }
    let variables = surroundings.readerEnvironment
    if let emulated = variables["UMOCKDEV_DIR"] { system = emulated + "/sys" }
    for (name, socket) in variables where name.hasPrefix("FP_VIRTUAL_") {
      virtualSockets[name.dropFirst("FP_".count).lowercased()] = socket
    }
  }

  /// For tests.
  init(system: String = "/sys", virtualSockets: [String: String] = [:]) {
    self.system = system
    self.virtualSockets = virtualSockets
  }

  /// Where a reader stands now; nil where that cannot be told, so that it is trusted by nobody.
  func place(of reader: ReaderDescription) -> ReaderPlace? {
    if reader.driver.hasPrefix("virtual_") {
      return virtualSockets[reader.driver].map { place(reader, "virtual:" + $0, "", .virtual) }
    }
    if let name = Self.usbName(reader.hint) {
      let device = "\(system)/bus/usb/devices/\(name)"
      guard let path = realPath(device), let vendor = attribute("idVendor", of: device),
        let product = attribute("idProduct", of: device)
      else { return nil }
      let attachment: ReaderPlace.Attachment =
        switch attribute("removable", of: device) {
        case "fixed": .fixed
        case "removable": .removable
        default: .unknown
        }
      return place(reader, lasting(path), "\(vendor):\(product)", attachment)
    }
    for (prefix, family) in [("/dev/spidev", "spidev"), ("/dev/hidraw", "hidraw")] where reader.hint.hasPrefix(prefix) {
      let name = reader.hint.dropFirst("/dev/".count)
      guard name.utf8.allSatisfy({ Self.isPlain($0) }), let path = realPath("\(system)/class/\(family)/\(name)/device")
      else { return nil }
      // Soldered on, unless it is behind a USB plug.
      let isBuiltIn = !path.split(separator: "/").contains { Self.isRootHub($0) }
      let kind = attribute("modalias", of: path) ?? ""
      return place(reader, lasting(path), kind, isBuiltIn ? .fixed : .unknown)
    }
    return nil
  }

  /// The device nodes that a reader is opened through; nil where they cannot be told one by one.
  func nodes(of reader: ReaderDescription) -> [String]? {
    if reader.driver.hasPrefix("virtual_") { return [] }
    if reader.hint.hasPrefix("/dev/spidev") || reader.hint.hasPrefix("/dev/hidraw") {
      guard place(of: reader) != nil else { return nil }
      // A driver for a sensor on SPI may reset it through the touchpad that it is built into.
      return reader.hint.hasPrefix("/dev/spidev") ? [reader.hint] + builtInHID() : [reader.hint]
    }
    guard let name = Self.usbName(reader.hint) else { return nil }
    let device = "\(system)/bus/usb/devices/\(name)"
    func padded(_ attribute: String) -> String? {
      guard let number = self.attribute(attribute, of: device).flatMap({ UInt16($0) }) else { return nil }
      let digits = String(number)
      return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
    guard let bus = padded("busnum"), let address = padded("devnum") else { return nil }
    return ["/dev/bus/usb/\(bus)/\(address)"]
  }

  /// The nodes of HID devices that are not behind a USB plug, at most 64.
  private func builtInHID() -> [String] {
    let folder = "\(system)/class/hidraw"
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var nodes: [String] = []
    while let entry = readdir(stream), nodes.count < 64 {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard name.hasPrefix("hidraw"), name.utf8.allSatisfy({ Self.isPlain($0) }),
        let path = realPath("\(folder)/\(name)/device"),
        !path.split(separator: "/").contains(where: { Self.isRootHub($0) })
      else { continue }
      nodes.append("/dev/" + name)
    }
    return nodes.sorted()
  }

  private func place(
    _ reader: ReaderDescription, _ path: String, _ hardware: String, _ attachment: ReaderPlace.Attachment
  ) -> ReaderPlace {
    ReaderPlace(
      driver: reader.driver, deviceID: reader.deviceID, path: path, hardware: hardware, attachment: attachment)
  }

  /// The kernel's name of the USB device that a bridge means, such as `1-3.2` for `usb:01:00:03:02`: the bus, the root
  /// hub and the ports, in hexadecimal.
  static func usbName(_ hint: String) -> String? {
    guard hint.hasPrefix("usb:"), hint.utf8.count <= 64 else { return nil }
    let fields = hint.dropFirst(4).split(separator: ":", omittingEmptySubsequences: false)
    let numbers = fields.compactMap { UInt8($0, radix: 16) }
    guard numbers.count == fields.count, numbers.count >= 3, numbers[0] > 0, numbers[1] == 0,
      !numbers[2...].contains(0)
    else { return nil }
    return "\(numbers[0])-" + numbers[2...].map(String.init).joined(separator: ".")
  }

  /// A path in sysfs without what changes: `pci0000:00/0000:00:14.0/usb@2.00/3/3.2` for
  /// `/sys/devices/pci0000:00/0000:00:14.0/usb1/1-3/1-3.2`.
  private func lasting(_ path: String) -> String {
    let root = (realPath(system) ?? system) + "/devices/"
    var above = ""
    var parts: [String] = []
    for part in (path.hasPrefix(root) ? path.dropFirst(root.count) : path[...]).split(separator: "/") {
      above += "/" + part
      if Self.isRootHub(part) {
        // A controller has a bus of each generation, which the generation tells apart.
        let version = attribute("version", of: (path.hasPrefix(root) ? root.dropLast() : "") + above)
        parts.append("usb@" + (version ?? "?"))
      } else if let dash = part.firstIndex(of: "-"), !part[..<dash].isEmpty, part[..<dash].allSatisfy(\.isNumber),
        part[part.index(after: dash)...].allSatisfy({ $0.isNumber || $0 == "." || $0 == ":" })
      {
        parts.append(String(part[part.index(after: dash)...]))
      } else {
        parts.append(String(part))
      }
    }
    return parts.joined(separator: "/")
  }

  /// Whether a folder of sysfs is a USB bus: `usb1`.
  private static func isRootHub(_ name: Substring) -> Bool {
    name.hasPrefix("usb") && name.count > 3 && name.dropFirst(3).allSatisfy(\.isNumber)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): true
    default: false
    }
  }

  /// The first word of a small file; nil where there is none.
  private func attribute(_ name: String, of folder: String) -> String? {
    let file = open("\(folder)/\(name)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = read(file, &buffer, buffer.count)
    guard count > 0 else { return nil }
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    return text.split(whereSeparator: \.isWhitespace).first.map { $0.lowercased() }
  }

  private func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
