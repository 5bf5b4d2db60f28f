import Foundation
import GLibLoop
import Glibc
import TestKit
import Testing

@testable import WhorlDaemon

/// What the kernel tells of readers that came while a bridge process ran.
@Suite struct ReaderHistoryTests {
  private let folder: TemporaryFolder
  private let kernel = Kernel()

  /// The kernel's end of the notices' socket.
  @GLibActor
  private final class Kernel {
    private(set) var end: Int32 = -1
    var isSilent = false

    nonisolated init() {}

    func open() -> Int32 {
      guard !isSilent else {
        errno = EPERM
        return -1
      }
      var ends: [Int32] = [-1, -1]
      guard socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else { return -1 }
      hangUp()
      end = ends[1]
      return ends[0]
    }

    func tell(_ lines: String...) {
      let bytes = Array(lines.joined(separator: "\0").utf8) + [0]
      #expect(send(end, bytes, bytes.count, 0) == bytes.count)
    }

    func hangUp() {
      if end >= 0 { close(end) }
      end = -1
    }
  }

  init() throws {
    GLibLoop.startThread()
    folder = try TemporaryFolder()
    try folder.write("usb:v06CBp00BD*\n# Known unsupported devices\nusb:v04F3p0C4C*\n", to: "list")
    try folder.makeFolder("devices")
  }

  @GLibActor private func makeHistory() -> ReaderHistory {
    ReaderHistory(UnlistedReaders(lists: [folder("list")], devices: folder("devices"))) { [kernel] in kernel.open() }
  }

  private func plug(_ name: String, number: Int) throws {
    try folder.makeFolder("devices/\(name)")
    for (file, text) in [("idVendor", "06cb"), ("idProduct", "00bd"), ("busnum", "1"), ("devnum", "\(number)")] {
      try folder.write(text + "\n", to: "devices/\(name)/\(file)")
    }
  }

  @GLibActor private func tell(_ product: String, action: String = "add", type: String = "usb_device") {
    kernel.tell(
      "\(action)@/devices/usb1/1-3", "ACTION=\(action)", "SUBSYSTEM=usb", "DEVTYPE=\(type)", "PRODUCT=\(product)")
  }

  private static let mine = ["/dev/bus/usb/001/004"]

  @Test @GLibActor func `Alone from the start on is alone`() throws {
    let history = makeHistory()
    #expect(!history.isAlone(Self.mine), "nothing has begun")
    try plug("1-1", number: 4)
    history.begin()
    #expect(history.isAlone(Self.mine))
    // What is no reader, or has no driver, or only goes, is nobody.
    tell("46d/c52b/1211")
    tell("4f3/c4c/100")
    tell("6cb/bd/100", action: "remove")
    tell("6cb/bd/100", type: "usb_interface")
    kernel.tell("change@/devices/battery", "ACTION=change", "SUBSYSTEM=power_supply")
    kernel.tell("libudev", "\u{FE}\u{ED}")
    #expect(history.isAlone(Self.mine))
    #expect(!history.isAlone([]), "another one's history")
  }

  @Test @GLibActor func `A reader that came and went is remembered until a new process starts`() {
    let history = makeHistory()
    history.begin()
    tell("6cb/bd/100")
    tell("6cb/bd/100", action: "remove")
    #expect(!history.isAlone(Self.mine))
    #expect(!history.isAlone(Self.mine))
    history.begin()
    #expect(history.isAlone(Self.mine))
  }

  @Test @GLibActor
  func `One that was there at the start counts although it is gone, and one that nobody told of while it is there`()
    throws
  {
    let history = makeHistory()
    try plug("1-2", number: 9)
    history.begin()
    try FileManager.default.removeItem(atPath: folder("devices/1-2"))
    #expect(!history.isAlone(Self.mine))
    history.begin()
    #expect(history.isAlone(Self.mine))
    try plug("1-2", number: 9)
    #expect(!history.isAlone(Self.mine))
    #expect(history.hasOthersNow(beside: Self.mine))
    #expect(!history.hasOthersNow(beside: ["/dev/bus/usb/001/009"]))
  }

  @Test @GLibActor func `Where the history cannot be known, nothing is believed to be alone`() throws {
    let history = makeHistory()
    kernel.isSilent = true
    history.begin()
    #expect(history.gap?.contains("not permitted") == true, "\(history.gap ?? "")")
    #expect(!history.isAlone(Self.mine))
    kernel.isSilent = false
    history.begin()
    #expect(history.isAlone(Self.mine))
    try FileManager.default.removeItem(atPath: folder("list"))
    history.begin()
    #expect(history.gap == "no list of readers is installed")
    #expect(!history.isAlone(Self.mine))
  }

  @Test @GLibActor func `A notice that says nothing of which device it is counts as one`() {
    let history = makeHistory()
    history.begin()
    tell("nonsense")
    #expect(!history.isAlone(Self.mine))
  }
}
