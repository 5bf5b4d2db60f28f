internal import Glibc

/// The files that a print is written to before it gets its finger's name. A crash leaves one behind; it is never taken
/// for a print (no finger has such a name) and goes at the next change of the folder.
enum Leftovers {
  private static let prefix = ".whorl-new-"

  /// A name that nobody else uses.
  static func newName() -> String { prefix + String(UInt64.random(in: .min ... .max), radix: 16) }

  /// Takes the file for its writer, until it is closed: whoever can take it too knows that its writer is gone.
  static func take(_ file: borrowing OpenFile) -> Bool { flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// Removes what crashed writers left in the folder. What cannot be removed stays: it does no harm.
  static func remove(from folder: borrowing Folder) {
    guard let names = try? folder.names() else { return }
    for name in names where name.hasPrefix(prefix) {
      guard let file = (try? folder.read(name)) ?? nil else { continue }
      if take(file) { _ = try? folder.remove(name) }
    }
  }
}
