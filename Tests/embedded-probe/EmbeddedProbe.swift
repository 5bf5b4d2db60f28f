import Foundation
import Glibc
import Security
import Synchronization
import WhorlEmbedded

/// A program with an enclave of its own, which does what standard input says, one command a line, and says on standard
/// output what came of it, one line each.
@main
struct EmbeddedProbe {
  /// Whether a question for the passcode is answered.
  static let answers = Mutex<String?>(nil)

  static func main() async {
    var enclave: EmbeddedEnclave?
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      do {
        try await run(words, &enclave)
      } catch let error as EmbeddedError {
        say("error \(error.code): \(error.message)")
      } catch {
        say("error \(error)")
      }
    }
    // Let go, not stopped, where the input just ends.
  }

  static func say(_ text: String) {
    let line = text + "\n"
    _ = write(STDOUT_FILENO, line, line.utf8.count)
  }

  static func run(_ words: [String], _ enclave: inout EmbeddedEnclave?) async throws {
    switch words[0] {
    case "start":
      enclave = try EmbeddedEnclave.start(folder: words[1]) { request in
        say("asked for \(request.deed) \(request.item ?? "-") \(request.fingers.joined(separator: ","))")
        return answers.withLock { $0.map { Data($0.utf8) } }
      }
      say("started")
    case "quiet":
      enclave = try EmbeddedEnclave.start(folder: words[1])
      say("started")
    case "programs":
      enclave = try EmbeddedEnclave.start(folder: words[1], programs: words[2])
      say("started")
    case "second":
      _ = try EmbeddedEnclave.start(folder: words[1])
      say("started")
    case "answer":
      let answer = words.count > 1 ? words.dropFirst().joined(separator: " ") : nil
      answers.withLock { $0 = answer }
      say("will")
    case "stop":
      enclave?.stop()
      say("stopped")
    case "drop":
      enclave = nil
      say("dropped")
    case "enroll":
      try await enclave?.enroll(finger: words[1]) { step in say("step \(step)") }
      say("enrolled")
    case "abandon":
      try await abandon(words[1], in: enclave) { $0.cancel() }
    case "forsake":
      let current = enclave
      try await abandon(words[1], in: enclave) { _ in current?.stop() }
    case "register":
      try await enclave?.register(finger: words[1])
      say("registered")
    case "fingers": say("fingers \(try await enclave?.fingers().joined(separator: ",") ?? "none")")
    case "delete":
      try await enclave?.delete(finger: words[1])
      say("deleted")
    case "add": say("added \(add(words[1], words[2], words[3]))")
    case "get": say("got \(get(words[1]))")
    case "crowd": await crowd(Int(words[1]) ?? 0, words[2])
    default: say("error no command \(words[0])")
    }
  }

  /// Begins an enrolment, and ends it once the reader waits for a finger.
  static func abandon(
    _ finger: String, in enclave: EmbeddedEnclave?, by end: (Task<()?, any Error>) -> Void
  ) async throws {
    let (steps, came) = AsyncStream.makeStream(of: EnrollmentStep.self)
    let task = Task { try await enclave?.enroll(finger: finger) { came.yield($0) } }
    for await _ in steps { break }
    end(task)
    _ = try await task.value
    say("enrolled")
  }

  static func item(_ name: String) -> [String: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "embedded", kSecAttrAccount: name]
  }

  static func add(_ name: String, _ guardedBy: String, _ value: String) -> OSStatus {
    var attributes = item(name)
    attributes[kSecValueData] = Data(value.utf8)
    let flags: SecAccessControlCreateFlags? =
      switch guardedBy {
      case "finger": .biometryAny
      case "passcode": .devicePasscode
      case "presence": .userPresence
      default: nil
      }
    if let flags {
      attributes[kSecAttrAccessControl] = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, flags, nil)
    } else {
      attributes[kSecAttrAccessible] = kSecAttrAccessibleAlways
    }
    return SecItemAdd(attributes as CFDictionary, nil)
  }

  /// The value, or the status.
  static func get(_ name: String) -> String {
    var query = item(name)
    query[kSecReturnData] = true
    var found: AnyObject?
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    guard status == errSecSuccess else { return "\(status)" }
    return (found as? Data).map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
  }

  /// Has as many tasks as that block the threads of Swift's pool at once.
  static func crowd(_ count: Int, _ name: String) async {
    let results = await withTaskGroup(of: String.self) { group in
      for _ in 0..<count { group.addTask { get(name) } }
      return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
    }
    say("crowd \(results.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))")
  }
}
