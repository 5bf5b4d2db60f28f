// Sheds what whorl-reader sheds, then tries one thing and says how it went: "allowed", or the error's name. What the
// filter ends the process for is seen by its signal.
import CPosix
import Glibc
import ReaderLink
import ReaderSandbox

@main
struct Main {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    guard words.count >= 2 else { return finish("sandbox-probe system|private ATTEMPT [ARGUMENT]", 64) }
    let place: ReaderSandbox.Place
    var nodes: [String]?
    switch words.first {
    case let word? where word.hasPrefix("only:"):
      place = .ownFolder(environment: [:])
      nodes = [String(word.dropFirst("only:".count))]
    case "system": place = .system
    case "private": place = .ownFolder(environment: [:])
    case "virtual":
      place = .ownFolder(environment: ["FP_VIRTUAL_IMAGE": getenv("FP_VIRTUAL_IMAGE").map { String(cString: $0) } ?? ""]
      )
    // What it would be without a sandbox: so that a test knows that it is the sandbox which refuses.
    case "free": return attempt(Array(words.dropFirst()))
    default: return finish("unknown place", 64)
    }
    do {
      try ReaderSandbox.enter(place, keepingDescriptorsUpTo: 2, only: nodes)
    } catch {
      return finish(error.line, error.exit.rawValue)
    }
    attempt(Array(words.dropFirst()))
  }

  private static func attempt(_ words: [String]) {
    guard let attempt = Attempt(rawValue: words[0]) else { return finish("unknown attempt \(words[0])", 64) }
    errno = 0
    let result = attempt.perform(words.count > 1 ? words[1] : "")
    finish(result == 0 ? "allowed" : String(cString: strerror(errno)), 0)
  }

  private static func finish(_ line: String, _ code: Int32) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    exit(code)
  }
}
