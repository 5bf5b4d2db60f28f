import Foundation

/// The programs of this package as the build that runs the tests has made them.
public enum BuiltPrograms {
  /// The path of a program, such as `whorl-reader`: beside the tests' own executable or in a folder above it.
  ///
  /// - Throws: `TestKitError` where it was not built.
  public static func path(_ name: String) throws -> String {
    var folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent(name).path
      var isFolder: ObjCBool = false
      if FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue,
        FileManager.default.isExecutableFile(atPath: candidate)
      {
        return candidate
      }
      folder.deleteLastPathComponent()
    }
    throw TestKitError("\(name) was not built; run swift build first")
  }
}

/// What lies beside the repository and not in it.
public enum SharedMaterial {
  /// The path of something in `shared/`, beside the repository or (in CI) beside the checkout; nil where it is absent.
  public static func path(_ name: String) -> String? {
    // This file is Tests/TestKit/BuiltPrograms.swift.
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let candidates = [root.deletingLastPathComponent(), root].map {
      $0.appendingPathComponent("shared").appendingPathComponent(name).path
    }
    return candidates.first { FileManager.default.fileExists(atPath: $0) }
  }
}
