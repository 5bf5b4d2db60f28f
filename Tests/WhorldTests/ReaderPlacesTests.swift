import Foundation
import Keychain
import ReaderLink
import TestKit
import Testing

@testable import WhorlDaemon

/// Where readers stand, read from a sysfs that the tests write.
@Suite struct ReaderPlacesTests {
  private let folder: TemporaryFolder
  private let places: ReaderPlaces

  init() throws {
    folder = try TemporaryFolder()
    places = ReaderPlaces(system: folder("sys"), virtualSockets: ["virtual_image": "/run/image"])
  }

  private func reader(_ hint: String, driver: String = "synaptics") -> ReaderDescription {
    ReaderDescription(
      token: 1, driver: driver, deviceID: "0", name: "R", scanType: .press, features: [], enrollStages: 1, hint: hint)
  }

  /// A USB device as the kernel shows it.
  private func plug(
    _ name: String, below path: String, bus: Int = 1, removable: String? = "fixed", product: String = "00bd"
  ) throws {
    let controller = "sys/devices/pci0000:00/0000:00:14.0"
    let device = "\(controller)/usb\(bus)/\(path)"
    try folder.makeFolder(device)
    try folder.write(" \(bus + 1).00\n", to: "\(controller)/usb\(bus)/version")
    try folder.write("06cb\n", to: "\(device)/idVendor")
    try folder.write("\(product)\n", to: "\(device)/idProduct")
    if let removable { try folder.write("\(removable)\n", to: "\(device)/removable") }
    try folder.makeFolder("sys/bus/usb/devices")
    try FileManager.default.createSymbolicLink(
      atPath: folder("sys/bus/usb/devices/\(name)"),
      withDestinationPath: "../../../devices/pci0000:00/0000:00:14.0/usb\(bus)/\(path)")
  }

  @Test func `A USB reader's place is its way through the hubs, without what the kernel numbers as it finds it`() throws
  {
    try plug("1-3.2", below: "1-3/1-3.2")
    #expect(
      places.place(of: reader("usb:01:00:03:02"))
        == ReaderPlace(
          driver: "synaptics", deviceID: "0", path: "pci0000:00/0000:00:14.0/usb@2.00/3/3.2", hardware: "06cb:00bd",
          attachment: .fixed))
  }

  @Test func `Another number of the bus is the same place, another bus or plug or device is not`() throws {
    try plug("1-3", below: "1-3")
    let here = places.place(of: reader("usb:01:00:03"))
    #expect(here != nil)
    try FileManager.default.removeItem(atPath: folder("sys"))
    try plug("7-3", below: "7-3", bus: 7)
    try folder.write(" 2.00\n", to: "sys/devices/pci0000:00/0000:00:14.0/usb7/version")
    #expect(places.place(of: reader("usb:07:00:03")) == here)
    try plug("2-3", below: "2-3", bus: 2)
    try plug("7-4", below: "7-4", bus: 7)
    try plug("7-5", below: "7-5", bus: 7, product: "00be")
    for hint in ["usb:02:00:03", "usb:07:00:04", "usb:07:00:05"] {
      let other = places.place(of: reader(hint))
      #expect(other != nil && other != here, "\(hint)")
    }
  }

  @Test(arguments: [
    ("fixed", ReaderPlace.Attachment.fixed), ("removable", .removable), ("unknown", .unknown), ("?", .unknown),
  ])
  func `Whether it can be pulled out is the kernel's word`(word: String, attachment: ReaderPlace.Attachment) throws {
    try plug("1-3", below: "1-3", removable: word)
    #expect(places.place(of: reader("usb:01:00:03"))?.attachment == attachment)
  }

  @Test func `Ports are hexadecimal`() {
    #expect(ReaderPlaces.usbName("usb:0a:00:0b:10") == "10-11.16")
  }

  @Test(arguments: [
    "", "usb:", "usb:01", "usb:01:00", "usb:01:00:00", "usb:00:00:03", "usb:01:03:03", "usb:01:00:03:", "usb:01:00:xx",
    "usb:01:00:100", "usb:01:00:-1", "usb:01:00:../..", "1-3", "/dev/spidev../../etc", "/dev/hidraw", "/dev/spidev9.9",
    "/etc/passwd", String(repeating: "usb:01:00:03:", count: 20), "usb:01:00:09",
  ])
  func `What is no device of this machine has no place`(hint: String) throws {
    try plug("1-3", below: "1-3")
    #expect(places.place(of: reader(hint)) == nil)
  }

  @Test func `A reader on SPI stands where its bus does`() throws {
    try folder.makeFolder("sys/devices/pci0000:00/spi_master/spi1/spi-ELAN7001:00/spidev/spidev1.0")
    try folder.write("acpi:ELAN7001:\n", to: "sys/devices/pci0000:00/spi_master/spi1/spi-ELAN7001:00/modalias")
    try folder.makeFolder("sys/class/spidev/spidev1.0")
    try FileManager.default.createSymbolicLink(
      atPath: folder("sys/class/spidev/spidev1.0/device"),
      withDestinationPath: "../../../devices/pci0000:00/spi_master/spi1/spi-ELAN7001:00")
    #expect(
      places.place(of: reader("/dev/spidev1.0", driver: "elanspi"))
        == ReaderPlace(
          driver: "elanspi", deviceID: "0", path: "pci0000:00/spi_master/spi1/spi-ELAN7001:00",
          hardware: "acpi:elan7001:", attachment: .fixed))
  }

  @Test func `A virtual reader has a place only where the daemon knows its socket, whatever the bridge says`() throws {
    try plug("1-3", below: "1-3")
    let virtual = places.place(of: reader("usb:01:00:03", driver: "virtual_image"))
    #expect(virtual?.attachment == .virtual)
    #expect(virtual?.path == "virtual:/run/image")
    #expect(places.place(of: reader("usb:01:00:03", driver: "virtual_device")) == nil)
    #expect(ReaderPlaces(system: folder("sys")).place(of: reader("", driver: "virtual_image")) == nil)
  }

  @Test func `Outside of private mode variables mean nothing`() throws {
    let surroundings = try Surroundings(
      environment: ["FP_VIRTUAL_IMAGE": "/run/image", "UMOCKDEV_DIR": folder("")], programFolder: "/usr/libexec")
    #expect(!surroundings.isPrivate)
    let places = ReaderPlaces(surroundings)
    #expect(places.system == "/sys")
    #expect(places.virtualSockets.isEmpty)
  }

  // MARK: - Nodes

  @Test func `A USB reader is opened through the node of its address, wherever its plug is`() throws {
    try plug("1-3.2", below: "1-3/1-3.2")
    let device = "sys/devices/pci0000:00/0000:00:14.0/usb1/1-3/1-3.2"
    #expect(places.nodes(of: reader("usb:01:00:03:02")) == nil, "without an address there is none")
    try folder.write("1\n", to: "\(device)/busnum")
    try folder.write("17\n", to: "\(device)/devnum")
    #expect(places.nodes(of: reader("usb:01:00:03:02")) == ["/dev/bus/usb/001/017"])
    #expect(places.nodes(of: reader("usb:01:00:04")) == nil)
    #expect(places.nodes(of: reader("/image", driver: "virtual_image")) == [])
  }

  @Test
  func `A sensor on SPI is opened through its node and those of built-in HID devices, one on HID through its own`()
    throws
  {
    func add(_ name: String, _ family: String, at path: String) throws {
      try folder.makeFolder("sys/devices/\(path)")
      try folder.makeFolder("sys/class/\(family)/\(name)")
      try FileManager.default.createSymbolicLink(
        atPath: folder("sys/class/\(family)/\(name)/device"), withDestinationPath: folder("sys/devices/\(path)"))
    }
    try add("spidev1.0", "spidev", at: "pci0000:00/0000:00:1e.3/spi1/spi1.0")
    try add("hidraw0", "hidraw", at: "pci0000:00/0000:00:15.1/i2c-1/0018:04F3:3057.0001")
    try add("hidraw1", "hidraw", at: "pci0000:00/0000:00:14.0/usb1/1-4/1-4:1.0/0003:046D:C52B.0002")
    #expect(places.nodes(of: reader("/dev/spidev1.0", driver: "elanspi")) == ["/dev/spidev1.0", "/dev/hidraw0"])
    #expect(places.nodes(of: reader("/dev/hidraw1", driver: "some")) == ["/dev/hidraw1"])
    for hint in ["/dev/spidev9.0", "/dev/hidraw7", "/dev/hidraw../../null", "/dev/spidev/..", "/dev/mem"] {
      #expect(places.nodes(of: reader(hint)) == nil, "\(hint)")
    }
  }
}
