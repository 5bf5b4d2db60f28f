import Foundation
import Testing

@testable import Keychain

/// The list of readers that may release secrets.
@Suite struct TrustedReaderTests {
  private func place(
    _ path: String = "pci0000:00/usb@2.00/3", driver: String = "synaptics",
    attachment: ReaderPlace.Attachment = .fixed
  ) -> ReaderPlace {
    ReaderPlace(driver: driver, deviceID: "0", path: path, hardware: "06cb:00bd", attachment: attachment)
  }

  @Test func `A new keychain trusts no reader`() throws {
    let keychain = try TestStore().open()
    #expect(try keychain.trustedReaders().isEmpty)
    #expect(try !keychain.isTrusted(place()))
  }

  @Test func `A trusted reader stays trusted in another opening, with its name and time, and only at its place`() throws
  {
    let store = try TestStore()
    store.clock.now = 77
    try store.open().trust([(place: place(), name: "Synaptics")])
    let keychain = try store.open()
    let readers = try keychain.trustedReaders()
    #expect(readers.map(\.place) == [place()])
    #expect(readers.map(\.name) == ["Synaptics"])
    #expect(readers.map(\.trustedAt) == [77])
    #expect(try keychain.isTrusted(place()))
    let others = [
      place("pci0000:00/usb@2.00/4"), place(driver: "other"), place(attachment: .removable),
      ReaderPlace(driver: "synaptics", deviceID: "1", path: place().path, hardware: "06cb:00bd", attachment: .fixed),
      ReaderPlace(driver: "synaptics", deviceID: "0", path: place().path, hardware: "06cb:00be", attachment: .fixed),
    ]
    for other in others { #expect(try !keychain.isTrusted(other)) }
    #expect(try store.open(1001).trustedReaders().isEmpty, "another user's list is his own")
  }

  @Test func `Trusting it again changes nothing, and each has an id of its own`() throws {
    let keychain = try TestStore().open()
    try keychain.trust([(place: place(), name: "a"), (place: place("elsewhere"), name: "b")])
    let before = try keychain.trustedReaders()
    try keychain.trust([(place: place(), name: "another name")])
    #expect(try keychain.trustedReaders() == before)
    #expect(Set(before.map(\.id)).count == 2)
    #expect(Set(before.map(\.place.id)).count == 2)
    #expect(place().id.count == 8 && place().id == place().id)
  }

  @Test func `A reader that is trusted no more is off the list alone`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    try keychain.trust([(place: place(), name: "a"), (place: place("elsewhere"), name: "b")])
    #expect(try keychain.distrust(place()))
    #expect(try !keychain.distrust(place()))
    #expect(try store.open().trustedReaders().map(\.name) == ["b"])
    try keychain.distrustAll()
    #expect(try store.open().trustedReaders().isEmpty)
  }

  @Test func `Nothing of a reader can be read in the file`() throws {
    let store = try TestStore()
    try store.open().trust([(place: place("telltale-path"), name: "telltale-name")])
    for (name, content) in try store.files() {
      #expect(content.range(of: Data("telltale".utf8)) == nil, "\(name)")
    }
  }

  @Test func `Places that cannot be told apart, texts that are too long and too many readers are refused`() throws {
    let keychain = try TestStore().open()
    let long = String(repeating: "x", count: 1025)
    for (place, name) in [(place(""), "a"), (place(long), "a"), (place(), long)] {
      #expect(throws: KeychainError.self) { try keychain.trust([(place: place, name: name)]) }
    }
    try keychain.trust((1...64).map { (place: place("\($0)"), name: "") })
    #expect(throws: KeychainError.self) { try keychain.trust([(place: place("65"), name: "")]) }
    #expect(try keychain.trustedReaders().count == 64)
  }

  @Test(arguments: [
    "DELETE FROM trusted_reader WHERE number = 1", "DELETE FROM trusted_reader",
    "UPDATE trusted_reader SET number = 9 WHERE number = 1",
    "UPDATE trusted_reader SET id = (SELECT id FROM biometry_member)",
    "UPDATE trusted_reader SET sealed = (SELECT sealed FROM trusted_reader WHERE number = 2) WHERE number = 1",
    "UPDATE trusted_reader SET sealed = zeroblob(80)", "UPDATE trusted_reader SET version = 2",
    "DELETE FROM meta WHERE name = 'trusted-readers'",
    "UPDATE meta SET value = zeroblob(60) WHERE name = 'trusted-readers'",
    "UPDATE meta SET value = (SELECT value FROM meta WHERE name = 'biometry-set') WHERE name = 'trusted-readers'",
  ])
  func `An edited list trusts nobody, until it is emptied`(edit: String) throws {
    let store = try TestStore()
    try store.open().recordEnrolment(finger: 7, reader: "r", print: [1])
    try store.open().trust([(place: place(), name: "a"), (place: place("elsewhere"), name: "b")])
    let editor = try store.editor()
    try? editor.execute(edit)
    let keychain = try store.open()
    if edit.contains("SELECT id"), (try? keychain.trustedReaders().count) == 2 { return }  // Refused by the schema.
    #expect(throws: KeychainError.self) { try keychain.trustedReaders() }
    #expect((try? keychain.isTrusted(place())) != true)
    #expect(throws: KeychainError.self) { try keychain.trust([(place: place("third"), name: "c")]) }
    #expect(throws: KeychainError.self) { _ = try keychain.distrust(place()) }
    #expect(try keychain.checkFile().contains { $0.contains("the trusted readers") })
    try keychain.distrustAll()
    #expect(try store.open().trustedReaders().isEmpty)
    #expect(try !keychain.checkFile().contains { $0.contains("the trusted readers") })
    try store.open().trust([(place: place("third"), name: "c")])
    #expect(try store.open().trustedReaders().map(\.name) == ["c"])
  }

  @Test func `The rows of before a change do not count with the record of after it`() throws {
    let store = try TestStore()
    let keychain = try store.open()
    try keychain.trust([(place: place(), name: "a")])
    let editor = try store.editor()
    try editor.execute("CREATE TEMP TABLE old AS SELECT * FROM trusted_reader")
    #expect(try keychain.distrust(place()))
    try editor.execute("INSERT INTO trusted_reader SELECT * FROM old")
    #expect(throws: KeychainError.self) { try store.open().trustedReaders() }
  }
}
