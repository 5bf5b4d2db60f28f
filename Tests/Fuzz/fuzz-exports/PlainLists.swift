import KeychainArchive
import SecretMemory

@testable import FuzzKit
@testable import Keychain

/// Lists of names and secrets that people import.
struct PlainLists {
  private struct Entry: Equatable {
    /// Bytes: texts are the same to Swift where only their composition differs.
    var name: [UInt8]
    var secret: [UInt8]
  }

  func read(_ bytes: [UInt8], _ format: PlainListReader.Format) throws {
    guard let entries = try entries(bytes, format) else { return }
    var names: Set<[UInt8]> = []
    for entry in entries {
      require(!entry.name.isEmpty && !entry.secret.isEmpty, "an entry has a name and a secret")
      require(entry.name.count + entry.secret.count <= bytes.count, "an entry has no more than stands in the list")
      require(names.insert(entry.name).inserted, "a name is there once")
      let name = String(decoding: entry.name, as: UTF8.self)
      let item = try PortableItem(
        attributes: PlainAttributes.bytes(service: "secret", name: name), accessControl: [])
      require(item.attributes.label?.utf8.elementsEqual(entry.name) == true, "an entry can be imported under its name")
    }
    let quoted = Array("\"name\",secret\r\n".utf8) + entries.flatMap { Self.quoted($0.name, $0.secret) }
    require(try self.entries(quoted, .csv) == entries, "what is read can be written as a list and read again")
  }

  private static func quoted(_ name: [UInt8], _ secret: [UInt8]) -> [UInt8] {
    let quote = UInt8(ascii: "\"")
    func field(_ bytes: [UInt8]) -> [UInt8] { [quote] + bytes.flatMap { $0 == quote ? [$0, $0] : [$0] } + [quote] }
    return field(name) + Array(",".utf8) + field(secret) + Array("\r\n".utf8)
  }

  /// nil where the list is refused.
  private func entries(_ bytes: [UInt8], _ format: PlainListReader.Format) throws -> [Entry]? {
    let text = try secret(bytes)
    let reader = PlainListReader(text, format: format)
    var entries: [Entry] = []
    var line = 0
    do throws(PlainListError) {
      while let entry = try reader.next() {
        require(entry.line > line, "entries come in the order of their lines")
        line = entry.line
        entries.append(Entry(name: Array(entry.name.utf8), secret: entry.secret.withUnsafeBytes { Array($0) }))
      }
      return entries
    } catch {
      requireLine(error.description)
      require(error.line > line || error.line >= 1, "an error names a line")
      require(error.line <= bytes.count { $0 == UInt8(ascii: "\n") } + 1, "an error names a line that there is")
      return nil
    }
  }

  static func seeds(_ csv: UInt8, _ pairs: UInt8) -> [[UInt8]] {
    let lists = ["name,secret\r\na,b\r\n\"c \"\"d\"\"\",\"e,\r\nf\"\r\n", "a,b\n\nc,d", "\u{FEFF}a,\"\"\n"]
    let lines = ["A=b\nC=d=e\r\n\n", "\u{FEFF}A=\"b\"\n# c\n"]
    return lists.map { [csv] + Array($0.utf8) } + lines.map { [pairs] + Array($0.utf8) }
  }
}
