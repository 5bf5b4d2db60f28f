/// The group of programs that an item belongs to where a query does not name one.
///
/// It keeps programs out of each other's way and protects nothing: any program of the user's can name any group.
package enum AccessGroup {
  /// This program's group: its bundle identifier, from an Info.plist beside it; the executable's name where there is none.
  package static let own: String = choose(identifier: Bundle.main.bundleIdentifier, executable: executable)

  /// The group of a program with that bundle identifier and that path.
  static func choose(identifier: String?, executable: String?) -> String {
    for name in [identifier, executable.map { ($0 as NSString).lastPathComponent }] {
      if let name, !name.isEmpty, !name.utf8.contains(0), name.utf8.count <= 4096 { return name }
    }
    return "unnamed"
  }

  /// The path of the running program, by the kernel: what a program is called as is the caller's choice.
  private static var executable: String? {
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
    // So the kernel shows a program whose file was replaced since it started, as an update does.
    let mark = " (deleted)"
    return path.hasSuffix(mark) ? String(path.dropLast(mark.count)) : path
  }
}
