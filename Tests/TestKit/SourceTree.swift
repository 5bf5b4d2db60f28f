import Foundation

/// The files of the repository that the tests were built from.
public enum SourceTree {
  /// The path of one of them, such as `data/dbus/org.whorl.Keychain1.xml`.
  public static func path(_ name: String) -> String {
    // This file is Tests/TestKit/SourceTree.swift.
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent(name).path
  }
}
