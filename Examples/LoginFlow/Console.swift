import Foundation

/// The terminal, a line at a time. Nothing is read unless it was asked for, so that who else asks there is not disturbed.
@MainActor
final class Console {
  func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  /// The next line; nil at the end of the input. The main actor goes on meanwhile.
  func ask(_ prompt: String) async -> String? {
    FileHandle.standardOutput.write(Data((prompt + " ").utf8))
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: readLine()) }
    }
  }
}
