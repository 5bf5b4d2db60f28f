internal import EmbeddedLink
internal import Glibc

/// Where the enclave's programs are: all of them in one folder.
enum ProgramFolder {
  /// - Parameter given: that folder, where the caller names it.
  static func find(_ given: String?) throws(EmbeddedError) -> String {
    let places = given.map { [$0] } ?? places()
    for place in places {
      guard let real = realpath(place, nil) else { continue }
      let folder = String(cString: real)
      free(real)
      if EmbeddedLink.programs.allSatisfy({ access("\(folder)/\($0)", X_OK) == 0 }) { return folder }
    }
    throw EmbeddedError(
      .cannotStart,
      "The programs \(EmbeddedLink.programs.joined(separator: ", ")) are not in \(places.joined(separator: " or ")); "
        + "have SwiftPM build them beside yours, by dependencies on these products, or install Whorl.")
  }

  /// Beside the program, where SwiftPM builds them and bundles keep them; where `make install` puts them.
  private static func places() -> [String] {
    var places: [String] = []
    if let real = realpath("/proc/self/exe", nil) {
      let program = String(cString: real)
      free(real)
      if let slash = program.lastIndex(of: "/") {
        let folder = String(program[..<slash])
        places = [folder, folder + "/../libexec/whorl"]
      }
    }
    return places + ["/usr/local/libexec/whorl", "/usr/libexec/whorl"]
  }
}
