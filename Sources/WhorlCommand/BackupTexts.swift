import WhorlClient

/// What is told after an export or an import.
enum BackupTexts {
  static func secrets(_ count: Int) -> String { "\(count) secret\(count == 1 ? "" : "s")" }

  static func exported(_ result: WhorlExport, _ place: String) -> [String] {
    var lines = ["Exported \(secrets(result.exported)) to \(place); whoever has it and its passphrase has them all."]
    let leftOut = [
      (result.thisDeviceOnly, "on this device only"), (result.applicationPassword, "under a password of a program's"),
      (result.privateKeys, "private keys, which never leave Whorl"),
      (result.gone, "gone, since the fingers changed"),
    ].filter { $0.0 > 0 }
    if !leftOut.isEmpty {
      lines.append("Left out: " + leftOut.map { "\($0.0) (\($0.1))" }.joined(separator: ", ") + ".")
    }
    return lines
  }

  static func imported(_ result: WhorlImported, _ order: ImportOrder) -> [String] {
    var line = "Imported \(secrets(result.added + result.replaced))"
    if result.replaced > 0 { line += ", \(result.replaced) of them in place of others" }
    if result.skipped > 0 { line += "; skipped \(result.skipped) that exist\(result.skipped == 1 ? "s" : "")" }
    var lines = [line + "."]
    if order.format != .archive, order.file != "-" {
      lines.append("They still stand in \(Escaping.quoted(order.file)) for all who can read it; delete it (shred -u).")
    }
    return lines
  }
}
