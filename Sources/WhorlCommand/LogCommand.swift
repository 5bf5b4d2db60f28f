import GLibLoop
internal import Glibc
import WhorlClient

extension Commands {
  func log(json: Bool) async throws(CommandFailure) {
    let entries: [WhorlLogEntry]
    do throws(WhorlError) { entries = try await service.log() } catch { throw failure(error, "log") }
    if json {
      try await console.print("[" + entries.reversed().map(Self.json).joined(separator: ",\n ") + "]")
      return
    }
    for entry in entries.reversed() { try await console.print(Self.line(entry)) }
    if entries.isEmpty { await console.tell("No secret of yours was asked for yet, as far back as the log goes.") }
  }

  private static func line(_ entry: WhorlLogEntry) -> String {
    let name = entry.item.map { Escaping.shown($0, limit: 128) } ?? "#" + hex(entry.itemHash.prefix(4))
    let file = entry.executable.isEmpty ? entry.program : entry.executable
    let program = file.isEmpty ? "unknown" : Escaping.shown(file, limit: 256)
    let requirement = entry.constraints.isEmpty ? "none" : entry.constraints.joined(separator: ",")
    let parts = [
      moment(entry.time), Escaping.shown(entry.outcome, limit: 64), Escaping.shown(entry.deed, limit: 32), name,
      Escaping.shown(requirement, limit: 128), entry.pid == 0 ? program : "\(program) (\(entry.pid))",
    ]
    return parts.joined(separator: "\t")
  }

  private static func json(_ entry: WhorlLogEntry) -> String {
    let item = entry.item.map(quoted) ?? "null"
    let constraints = entry.constraints.map(quoted).joined(separator: ",")
    return "{\"time\":\(entry.time),\"outcome\":\(quoted(entry.outcome)),\"deed\":\(quoted(entry.deed)),"
      + "\"item\":\(item),\"itemHash\":\(quoted(hex(entry.itemHash[...]))),\"constraints\":[\(constraints)],"
      + "\"executable\":\(quoted(entry.executable)),\"program\":\(quoted(entry.program)),\"pid\":\(entry.pid)}"
  }

  /// A text as JSON. Nothing of it moves a terminal: the client library has left out what could.
  private static func quoted(_ text: String) -> String {
    "\"" + text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
  }

  private static func hex(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Local time, to the second.
  private static func moment(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    guard localtime_r(&time, &parts) != nil else { return "\(seconds)" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
      + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  }
}
