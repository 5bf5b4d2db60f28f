import Bus
import Keychain
import Testing

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
}
