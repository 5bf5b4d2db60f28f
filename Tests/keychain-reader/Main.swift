// keychain-reader: reads secrets as an app does, through the library's blocking transport.
//
// usage: keychain-reader [--together] [--change] [--fork] NAME...
//
// Prints its process, then each secret or the error that came in its place, all at once with "--together", and at the end
// whether it has any child. With "--change" it gives each the secret "changed" first; with "--fork" a fork reads them too, and
// then it does once more.

import Foundation
import SecretMemory
import WhorlClient

// Swift has no name for it.
@_silgen_name("fork") private func newProcess() -> pid_t

@main struct Main {
  static func main() {
    tell("reader \(getpid())")
    let transport = BlockingBusTransport()
    let names = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
    if CommandLine.arguments.contains("--together") {
      let all = DispatchGroup()
      for name in names { Thread.detachNewThread(in: all) { read(name, transport) } }
      all.wait()
    } else {
      for name in names { read(name, transport) }
    }
    if CommandLine.arguments.contains("--fork") {
      let child = newProcess()
      if child == 0 {
        tell("fork")
        for name in names { read(name, transport, isExplained: true) }
        _exit(0)
      }
      waitpid(child, nil, 0)
      for name in names { read(name, transport) }
    }
    tell(waitpid(-1, nil, WNOHANG) < 0 && errno == ECHILD ? "no child left" : "a child is left")
  }

  private static func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(1, bytes, bytes.count)
  }

  private static func changed() throws(WhorlError) -> SecretBytes {
    do { return try SecretBytes(copying: Array("changed".utf8).span.bytes) } catch {
      throw WhorlError(.secretMemory, "\(error)")
    }
  }

  private static func read(_ name: String, _ transport: BlockingBusTransport, isExplained: Bool = false) {
    do throws(WhorlError) {
      let context = try transport.createContext(reuseSeconds: 0)
      let query = WhorlAttributes(service: "whorl", account: name)
      if CommandLine.arguments.contains("--change") {
        try transport.update(
          matching: query, changes: WhorlAttributes(), accessControl: nil, secret: try changed(), in: context,
          prompt: WhorlPrompt(reason: "change it"), token: nil)
      }
      let secret = try transport.secret(
        matching: query, in: context, prompt: WhorlPrompt(reason: "show you \u{1B}[31m\(name)"), token: nil)
      tell("secret of \(name): " + secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
      transport.invalidate(context)
    } catch {
      tell("no secret of \(name): \(error.code)" + (isExplained ? " (\(error.message))" : ""))
    }
  }
}

extension Thread {
  fileprivate static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    detachNewThread {
      body()
      group.leave()
    }
  }
}
