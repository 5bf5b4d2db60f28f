import GLibLoop
internal import Glibc
import WhorlClient

extension Commands {
  func log() async throws(CommandFailure) {
    let entries: [WhorlLogEntry]
    do throws(WhorlError) { entries = try await service.log() } catch { throw failure(error, "log") }
    if isJSON {
      var list = JSONList(console)
      for entry in entries.reversed() { try await list.add(Self.json(entry)) }
      return try await list.end()
    }
    for entry in entries.reversed() { try await console.print(Self.line(entry)) }
    if entries.isEmpty { await console.tell("No secret of yours was asked for yet, as far back as the log goes.") }
  }

  private static func line(_ entry: WhorlLogEntry) -> String {
    // Of the whole keychain there is no name.
    let unnamed = entry.itemHash.isEmpty ? "-" : "#" + hex(entry.itemHash.prefix(4))
    let name = entry.item.map { Escaping.shown($0, limit: 128) } ?? unnamed
    let file = entry.executable.isEmpty ? entry.program : entry.executable
    let program = file.isEmpty ? "unknown" : Escaping.shown(file, limit: 256)
    let requirement =
      Requirement(constraints: entry.constraints)?.rawValue
      ?? Escaping.shown(entry.constraints.joined(separator: "+"), limit: 128)
    let parts = [
      moment(entry.time), LogWords.outcome(entry.outcome), Escaping.shown(entry.deed, limit: 32), name,
      requirement, entry.pid == 0 ? program : "\(program) (\(entry.pid))",
    ]
    return parts.joined(separator: "\t")
  }

  private static func json(_ entry: WhorlLogEntry) -> JSONText {
    .object([
      .init("time", .number(entry.time)), .init("outcome", .text(entry.outcome)), .init("deed", .text(entry.deed)),
      .init("item", entry.item.map(JSONText.text) ?? .null), .init("itemHash", .text(hex(entry.itemHash[...]))),
      .init("constraints", .texts(entry.constraints)), .init("executable", .text(entry.executable)),
      .init("program", .text(entry.program)), .init("pid", .number(Int64(entry.pid))),
    ])
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
