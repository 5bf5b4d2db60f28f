internal import Glibc

/// The variables that this process was started with.
public enum ProcessEnvironment {
  /// All of them, as they are now.
  public static var variables: [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let variable = entry.pointee {
      let text = String(cString: variable)
      if let equals = text.firstIndex(of: "=") {
        result[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      entry += 1
    }
    return result
  }
}
