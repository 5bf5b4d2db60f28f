import Foundation

/// A folder of a test's own, gone with everything in it when the last reference goes.
public final class TemporaryFolder: Sendable {
  /// Its absolute path, without a slash at the end.
  public let path: String

  /// Makes the folder, with mode 0700 unless `open`: then other users may pass through it (0755).
  public init(open: Bool = false) throws {
    let base = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array((base + "/whorl-test.XXXXXX").utf8CString)
    guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) != nil else {
      throw TestKitError.posix("mkdtemp in \(base)")
    }
    path = template.withUnsafeBufferPointer {
      String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    if open { chmod(path, 0o755) }
  }

  /// The path of something in the folder.
  public func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Writes a text file into the folder and gives its path.
  @discardableResult
  public func write(_ text: String, to name: String, mode: UInt32 = 0o644) throws -> String {
    let file = self(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    chmod(file, mode)
    return file
  }

  /// Makes a folder in the folder, with those above it, and gives its path.
  @discardableResult
  public func makeFolder(_ name: String, mode: UInt32 = 0o700) throws -> String {
    try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true)
    chmod(self(name), mode)
    return self(name)
  }

  /// Makes a symbolic link in the folder.
  public func link(_ target: String, to name: String) throws {
    try FileManager.default.createSymbolicLink(atPath: self(name), withDestinationPath: target)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
