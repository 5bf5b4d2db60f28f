import Bus
import Testing

@testable import Keychain
@testable import WhorlDaemon

@Suite struct ItemCodingTests {
  @Test func `An attribute that this version does not know is refused by name`() {
    let error = #expect(throws: BusMethodError.self) {
      try ItemCoding.attributes(.options(["service": .string("a"), "colour": .boolean(true)]))
    }
    #expect(error?.name == "org.whorl.Error.Param")
    #expect(error?.message.contains("colour") == true)
  }

  @Test(arguments: [
    ("class", BusValue.uint32(1)), ("service", .boolean(true)), ("creator", .string("1")), ("generic", .string("x")),
    ("invisible", .uint32(0)), ("label", .bytes([1])),
  ])
  func `An attribute of another type is refused by name`(_ key: String, _ value: BusValue) {
    let error = #expect(throws: BusMethodError.self) { try ItemCoding.query(.options([key: value]), what: "query key") }
    #expect(error?.message.contains(key) == true)
  }

  @Test(arguments: [
    ("constraints", BusValue.strings(["watch"])), ("constraints", .strings(["companion"])),
    ("constraints", .strings(["biometry-any", "device-passcode"])), ("constraints", .strings(["nonsense"])),
    ("protection", .string("nonsense")),
  ])
  func `A constraint or protection that cannot be kept is refused`(_ key: String, _ value: BusValue) throws {
    var options = try StrictOptions(.options([key: value]), what: "option")
    #expect(throws: KeychainError.self) { try ItemCoding.accessControl(&options) }
  }

  @Test func `A key given twice is refused`() {
    let entry = BusEntry(key: .string("service"), value: .variant(.string("a")))
    #expect(throws: BusMethodError.self) {
      try ItemCoding.attributes(.dictionary(key: "s", value: "v", [entry, entry]))
    }
  }

  @Test func `What is added comes back in a search`() throws {
    var wanted = ItemAttributes(service: "s", account: "a", accessGroup: "g")
    wanted.label = "l"
    wanted.itemDescription = "d"
    wanted.comment = "c"
    wanted.creator = 1
    wanted.type = 2
    wanted.generic = [0, 255]
    wanted.invisible = true
    wanted.negative = false
    let given = BusValue.options([
      "class": .string("generic-password"), "service": .string("s"), "account": .string("a"),
      "access-group": .string("g"), "label": .string("l"), "description": .string("d"), "comment": .string("c"),
      "creator": .uint32(1), "type": .uint32(2), "generic": .bytes([0, 255]), "invisible": .boolean(true),
      "negative": .boolean(false),
    ])
    #expect(try ItemCoding.attributes(given) == wanted)
  }

  @Test(arguments: [
    "two\nlines", "two\u{2028}lines", "right\u{202E}to left", "\u{1B}[31mred",
    "e" + String(repeating: "\u{301}", count: 100_000),
  ])
  func `Whatever a caller names stays one short line in the error`(_ name: String) throws {
    var lines: [String] = []
    func collect(_ body: () throws -> Void) {
      do { try body() } catch let error as KeychainError { lines.append(error.description) } catch let error
        as BusMethodError
      { lines.append(error.message) } catch { Issue.record("\(error)") }
    }
    collect { _ = try ItemCoding.attributes(.options([name: .uint32(1)])) }
    collect { _ = try ItemCoding.query(.options(["class": .string(name)]), what: "query key") }
    for option in ["protection": BusValue.string(name), "constraints": .strings([name])] {
      collect {
        var keys = try StrictOptions(.options([option.key: option.value]), what: "option")
        _ = try ItemCoding.accessControl(&keys)
      }
    }
    collect {
      try ItemCoding.attributes(.options(["class": .string("key"), "key-type": .string(name)])).validate()
    }
    lines.append(KeychainFace.unknown(name, ["known"]).message)
    #expect(lines.count == 6)
    for line in lines {
      #expect(line.utf8.count < 500)
      #expect(
        line.unicodeScalars.allSatisfy {
          ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        })
    }
  }
}
