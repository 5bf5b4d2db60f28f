import Foundation
import PrintStore
import ReaderLink
import TestKit

/// A store in a folder of its own.
struct Sample {
  let folder: TemporaryFolder
  let store: PrintStore

  init() throws {
    folder = try TemporaryFolder()
    store = PrintStore(root: folder("prints"))
  }

  static let key = PrintStore.Key(user: "anna", driver: "virtual_image", deviceID: "0", finger: .rightIndex)

  /// The bytes of a made-up print: one length and one filling for each number, so that a mixture is noticed.
  static func print(_ number: Int) -> [UInt8] {
    Array("FP3".utf8) + [UInt8](repeating: UInt8(number & 0xFF), count: 2000 + 37 * (number & 0xFF))
  }

  /// Every path below the root, with its mode.
  func tree() throws -> [String: UInt32] {
    var found: [String: UInt32] = [:]
    guard let names = FileManager.default.enumerator(atPath: store.root) else { return found }
    for case let name as String in names {
      var status = stat()
      guard lstat(store.root + "/" + name, &status) == 0 else { continue }
      found[name] = status.st_mode & 0o7777
    }
    return found
  }

  /// The folder of the prints of `key`'s reader.
  var readerFolder: String { "\(store.root)/anna/virtual_image/0" }
}

/// The error that `body` throws; nil where it throws none.
func storeError(_ body: () throws(PrintStoreError) -> Void) -> PrintStoreError? {
  do {
    try body()
    return nil
  } catch {
    return error
  }
}

/// A number that threads share.
///
/// `@unchecked Sendable` holds because the number is only touched while the lock is held.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0
  var value: Int { lock.withLock { number } }
  func increment() { lock.withLock { number += 1 } }
}
