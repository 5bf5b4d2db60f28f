internal import CSystemd
internal import Glibc

/// Entries in the system's journal, as fields; where there is no journal, nothing happens.
enum Journal {
  /// "Whorl: a secret was released or refused."
  private static let messageID = "5f2d2c9de1b64d1c9a3f7a6d0f5b1e47"

  static func send(_ entry: ReleaseEntry) {
    let what = entry.isRelease ? "released" : "refused (\(entry.outcome))"
    let by = entry.executable.isEmpty ? entry.program : entry.executable
    let who = by.isEmpty ? "a program" : by
    let fields = [
      "MESSAGE=uid \(entry.user): \(entry.deed) by \(plain(who)): \(what)",
      "MESSAGE_ID=\(messageID)", "PRIORITY=\(entry.isRelease ? 6 : 5)", "SYSLOG_IDENTIFIER=whorld",
      "WHORL_UID=\(entry.user)", "WHORL_DEED=\(entry.deed)", "WHORL_OUTCOME=\(entry.outcome)",
      "WHORL_ITEM_HASH=\(Hex.text(entry.item))", "WHORL_CONSTRAINTS=\(entry.constraints.joined(separator: " "))",
      "WHORL_EXECUTABLE=\(plain(entry.executable))", "WHORL_PROGRAM=\(plain(entry.program))", "WHORL_PID=\(entry.pid)",
    ]
    // strdup: ours to free. sd_journal_sendv only reads them.
    let texts = fields.map { strdup($0) }
    defer { for text in texts { free(text) } }
    let vectors = texts.map { iovec(iov_base: $0, iov_len: $0.map { strlen($0) } ?? 0) }
    // There is nobody to tell that the journal takes nothing.
    _ = vectors.withUnsafeBufferPointer { sd_journal_sendv($0.baseAddress, Int32($0.count)) }
  }

  /// On one line.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : $0 }))
  }
}
