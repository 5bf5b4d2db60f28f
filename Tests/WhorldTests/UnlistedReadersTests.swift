import Foundation
import TestKit
import Testing

@testable import WhorlDaemon

@Suite struct UnlistedReadersTests {
  private let folder: TemporaryFolder
  private let readers: UnlistedReaders

  init() throws {
    folder = try TemporaryFolder()
    readers = UnlistedReaders(lists: [folder("nowhere"), folder("list")], devices: folder("devices"))
    try folder.write(
      """
      # Supported by libfprint driver synaptics
      usb:v06CBp00BD*
       ID_AUTOSUSPEND=1

      # Known unsupported devices
      usb:v04F3p0C4C*
      usb:vZZZZp0C4C*
      usb:v04F3
      """, to: "list")
    try folder.makeFolder("devices")
  }

  private func plug(_ name: String, _ vendor: String, _ product: String, bus: Int = 1, number: Int = 4) throws {
    try folder.makeFolder("devices/\(name)")
    try folder.write("\(vendor)\n", to: "devices/\(name)/idVendor")
    try folder.write("\(product)\n", to: "devices/\(name)/idProduct")
    try folder.write("\(bus)\n", to: "devices/\(name)/busnum")
    try folder.write("\(number)\n", to: "devices/\(name)/devnum")
  }

  @Test func `A device that libfprint lists is found, with whether there is a driver for it`() throws {
    try plug("1-1", "1d6b", "0002")
    try plug("1-2", "04f3", "0c4c")
    try plug("1-3", "06cb", "00bd", bus: 12, number: 123)
    try folder.makeFolder("devices/1-2:1.0")
    #expect(
      readers.find() == [
        .init(id: "04f3:0c4c", isSupported: false, node: "/dev/bus/usb/001/004"),
        .init(id: "06cb:00bd", isSupported: true, node: "/dev/bus/usb/012/123"),
      ])
  }

  @Test func `Without lists or devices there is nothing`() throws {
    #expect(readers.find().isEmpty)
    try plug("1-2", "04f3", "0c4c")
    #expect(UnlistedReaders(lists: [], devices: folder("devices")).find().isEmpty)
    #expect(UnlistedReaders(lists: [folder("list")], devices: folder("nowhere")).find().isEmpty)
  }

  @Test func `Devices that say nonsense are passed over`() throws {
    try plug("1-2", "", "\u{1B}[2J")
    try plug("1-3", "zzzz", "0c4c")
    try folder.makeFolder("devices/1-4")
    #expect(readers.find().isEmpty)
  }
}
