internal import CPosix
internal import GLibLoop
internal import Glibc

/// The readers on USB that were there, by the kernel's word, at any time since a bridge process was started: one may have
/// taken the process over and be gone again, and the process itself does not tell of it.
///
/// The kernel's notices wait in a socket until somebody asks, so that nothing wakes for them; where they were too many,
/// the history is not known.
@GLibActor
final class ReaderHistory {
  private let known: UnlistedReaders
  private let open: @GLibActor () -> Int32
  private var ids: [String: Bool] = [:]
  private var notices: Int32 = -1
  /// The nodes of the readers that were there at the start.
  private var nodes: Set<String> = []
  private var hasArrival = false
  /// Why nobody knows what was there; nil where it is known.
  private(set) var gap: String? = "no process was started yet"

  /// So many notices are read at once.
  private static let limit = 10_000

  /// - Parameters:
  ///   - known: tells which USB devices are readers, and where the kernel shows them.
  ///   - open: opens the socket for the kernel's notices, which may not block; gives -1 where that fails.
  init(_ known: UnlistedReaders = UnlistedReaders(), open: @escaping @GLibActor () -> Int32 = cposix_device_events) {
    self.known = known
    self.open = open
  }

  isolated deinit { if notices >= 0 { close(notices) } }

  /// A process is about to be started: what was before does not matter to it.
  func begin() {
    if notices >= 0 { close(notices) }
    hasArrival = false
    gap = nil
    // In this order, or one that comes in between would be missed.
    notices = open()
    if notices < 0 { gap = "the kernel's notices cannot be had: \(String(cString: strerror(errno)))" }
    ids = known.ids()
    if ids.isEmpty { gap = "no list of readers is installed" }
    nodes = present
  }

  /// Whether a reader other than the one with these nodes is there now.
  func hasOthersNow(beside nodes: [String]) -> Bool {
    if ids.isEmpty { ids = known.ids() }
    return !present.isSubset(of: nodes)
  }

  /// Whether nothing but the reader with these nodes was there since ``begin()``, as far as can be known. A reader that
  /// was plugged in again is another one.
  func isAlone(_ nodes: [String]) -> Bool {
    readNotices()
    return gap == nil && !hasArrival && self.nodes.isSubset(of: nodes) && present.isSubset(of: nodes)
  }

  private var present: Set<String> { Set(known.find(ids).filter(\.isSupported).map(\.node)) }

  private func readNotices() {
    guard notices >= 0, gap == nil else { return }
    var buffer = [UInt8](repeating: 0, count: 16384)
    for _ in 0..<Self.limit {
      let count = recv(notices, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        if isArrival(buffer[..<count]) { hasArrival = true }
      } else if count < 0, errno == EINTR {
        continue
      } else if count < 0, errno == EAGAIN {
        return
      } else {
        gap = count < 0 && errno == ENOBUFS ? "the kernel told of too much" : "the kernel's notices ended"
        return
      }
    }
    gap = "the kernel told of too much"
  }

  /// Whether a notice says that a reader was plugged in: `add@PATH`, then `NAME=VALUE`, each ended by a zero.
  private func isArrival(_ notice: ArraySlice<UInt8>) -> Bool {
    var values: [Substring: Substring] = [:]
    for part in String(decoding: notice, as: UTF8.self).split(separator: "\0").dropFirst() {
      guard let sign = part.firstIndex(of: "=") else { continue }
      values[part[..<sign]] = part[part.index(after: sign)...]
    }
    guard values["ACTION"] == "add", values["SUBSYSTEM"] == "usb", values["DEVTYPE"] == "usb_device" else {
      return false
    }
    // `6cb/bd/100`: vendor, product and release, without the zeros in front.
    let numbers = (values["PRODUCT"] ?? "").split(separator: "/").map { UInt16($0, radix: 16) }
    guard numbers.count == 3, let vendor = numbers[0], let product = numbers[1] else { return true }
    return ids[Self.hex(vendor) + ":" + Self.hex(product)] == true
  }

  private static func hex(_ number: UInt16) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}
