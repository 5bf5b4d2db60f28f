internal import Fingerprint
internal import GLibLoop
internal import ReaderLink

/// The prints on a chip beside those on the disk.
@GLibActor
enum Comparison {
  /// What each print of the chip is. Only libfprint knows which are the same: a chip gives back less than was enrolled.
  static func of(_ stored: [Print], with known: [[UInt8]]) -> [StoredPrint] {
    // A damaged file equals nothing.
    let known = known.map { try? Print(deserializing: $0) }
    return stored.prefix(LinkLimits.prints).compactMap { print in
      // What cannot be written cannot be named to anybody either, nor deleted.
      guard let bytes = try? print.serialized() else { return nil }
      return StoredPrint(
        bytes: bytes, user: print.user.printable, finger: print.finger, enrolled: print.enrolled,
        driver: print.driver.printable,
        deviceID: print.deviceID.printable,
        knownIndex: known.firstIndex { $0.map(print.isEqual) ?? false })
    }
  }
}
