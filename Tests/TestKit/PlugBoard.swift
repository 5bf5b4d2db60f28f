import Foundation

/// USB sockets that tests plug readers into, made by umockdev: a bridge with ``environment`` sees the readers come and go
/// as it would see real ones. They are only descriptions: they are found, and some can be opened, but none scans.
public final class PlugBoard: Sendable {
  /// What can be plugged in.
  public enum Model: String, Sendable {
    /// libfprint lists it without talking to it.
    case aes2501 = "08ff 2580"
    /// libfprint opens it before it lists it.
    case synaptics = "06cb 00bd"
  }

  /// Whether umockdev and Python are here.
  public static var isAvailable: Bool {
    ["/usr/bin/umockdev-run", "/usr/bin/python3"].allSatisfy(FileManager.default.isExecutableFile)
  }

  /// What a bridge needs to see the sockets, and nothing else.
  public let environment: [String: String]
  private let program: RunningProgram
  private let folder: TemporaryFolder
  private let commands = Counter()

  /// Empty sockets.
  public init() async throws {
    folder = try TemporaryFolder()
    let script = try folder.write(Self.script, to: "board.py")
    program = try RunningProgram(
      "/usr/bin/python3", [script],
      environment: ["LD_PRELOAD": Self.preload, "TMPDIR": folder.path, "PATH": "/usr/bin:/bin"])
    let root = try await program.waitFor("\n", seconds: 60)
    environment = [
      "UMOCKDEV_DIR": String(root.prefix { $0 != "\n" }), "LD_PRELOAD": Self.preload, "FP_DEVICE_EMULATION": "1",
      "FP_DRIVERS_WHITELIST": "aes2501:synaptics", "PATH": "/usr/bin:/bin",
    ]
  }

  /// Plugs a reader into a socket. The system gives a device another address each time.
  public func plug(_ model: Model, port: Int, address: Int) async throws {
    try await command("plug \(port) \(address) \(model.rawValue)")
  }

  /// Pulls out what is in a socket.
  public func unplug(port: Int) async throws { try await command("unplug \(port)") }

  /// Pulls out what is in a socket and plugs it in again, over and over, under addresses from this one on that come
  /// round after fifty; it is in at the end.
  public func flood(_ model: Model, port: Int, address: Int, times: Int) async throws {
    try await command("flood \(port) \(address) \(model.rawValue) \(times)")
  }

  /// Lets nobody open the device with that address, as without a udev rule.
  public func deny(address: Int) async throws { try await command("deny \(address)") }

  /// Has another process hold the device with that address.
  public func hold(address: Int) async throws { try await command("hold \(address)") }

  /// Writes a script that lives as long as the sockets, and gives its path.
  public func writeProgram(_ text: String, to name: String) throws -> String {
    try folder.writeProgram(text, to: name)
  }

  private func command(_ text: String) async throws {
    let number = commands.next()
    try program.write("\(number) \(text)\n")
    try await program.waitFor("done \(number).\n", seconds: 120)
  }

  private static let preload = "libumockdev-preload.so.0"

  private final class Counter: @unchecked Sendable {
    // Only touched under the lock.
    private var value = 0
    private let lock = NSLock()

    func next() -> Int {
      lock.withLock {
        value += 1
        return value
      }
    }
  }

  private static let script = #"""
    import ctypes, glob, os, select, socket, sys
    mock = ctypes.CDLL("libumockdev.so.0")
    objects = ctypes.CDLL("libgobject-2.0.so.0")
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    def declare(name, result, *arguments):
        function = getattr(mock, name)
        function.restype, function.argtypes = result, arguments
        return function
    add = declare("umockdev_testbed_add_from_string", ctypes.c_int, pointer, text, pointer)
    uevent = declare("umockdev_testbed_uevent", None, pointer, text, text)
    remove = declare("umockdev_testbed_remove_device", None, pointer, text)
    attach = declare("umockdev_testbed_attach_ioctl", ctypes.c_int, pointer, text, pointer, pointer)
    request = declare("umockdev_ioctl_client_get_request", ctypes.c_ulong, pointer)
    complete = declare("umockdev_ioctl_client_complete", None, pointer, ctypes.c_long, ctypes.c_int)
    bed = declare("umockdev_testbed_new", pointer)()
    root = declare("umockdev_testbed_get_root_dir", text, pointer)(bed).decode()
    hub = "/devices/pci0000:00/0000:00:14.0/usb1"

    def ready():
        # umockdev ends the process when a listener's queue is full, where the kernel would lose the event.
        for listener in glob.glob(root + "/event*"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
                try:
                    probe.connect(listener)
                except OSError:
                    continue
                select.select([], [probe], [])

    def device(path, address, vendor, product, port, speed, kind, rest):
        head = bytes([18, 1, 0, 2, *kind, 64, *vendor.to_bytes(2, "little"), *product.to_bytes(2, "little"), 0, 1, 0, 0, 0, 1])
        lines = [f"P: {path}", f"N: bus/usb/001/{address:03}", "E: BUSNUM=001", f"E: DEVNAME=/dev/bus/usb/001/{address:03}",
            f"E: DEVNUM={address:03}", "E: DEVTYPE=usb_device", "E: DRIVER=usb", "E: MAJOR=189", f"E: MINOR={address - 1}",
            f"E: PRODUCT={vendor:x}/{product:x}/100", "E: SUBSYSTEM=usb", "A: bConfigurationValue=1\\n", "A: busnum=1\\n",
            f"A: devnum={address}\\n", f"A: devpath={port}\\n", f"A: idVendor={vendor:04x}\\n",
            f"A: idProduct={product:04x}\\n", f"A: speed={speed}\\n", f"H: descriptors={(head + bytes(rest)).hex().upper()}"]
        ready()
        if not add(bed, ("\n".join(lines) + "\n\n").encode(), None):
            sys.exit("no device")

    def plug(port, address, vendor, product):
        path = f"{hub}/1-{port}"
        device(path, address, vendor, product, port, 12, [0, 0, 0],
            [9, 2, 32, 0, 1, 1, 0, 128, 50, 9, 4, 0, 0, 2, 255, 255, 255, 0, 7, 5, 129, 2, 64, 0, 0, 7, 5, 2, 2, 64, 0, 0])
        ready()
        uevent(bed, ("/sys" + path).encode(), b"add")

    def unplug(port):
        path = f"/sys{hub}/1-{port}".encode()
        ready()
        uevent(bed, path, b"remove")
        ready()
        remove(bed, path)

    @ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer)
    def refuse(base, client, data):
        # USBDEVFS_CLAIMINTERFACE, EBUSY; USBDEVFS_REAPURBNDELAY, EAGAIN.
        if request(client) == 0x8004550f:
            complete(client, -1, 16)
        elif request(client) == 0x4008550d:
            complete(client, -1, 11)
        else:
            complete(client, 0, 0)
        return 1

    holder = declare("umockdev_ioctl_base_new", pointer)()
    objects.g_signal_connect_data.argtypes = [pointer, text, type(refuse), pointer, pointer, ctypes.c_int]
    objects.g_signal_connect_data(holder, b"handle-ioctl", refuse, None, None, 0)

    device(hub, 1, 0x1d6b, 2, 0, 480, [9, 0, 1],
        [9, 2, 25, 0, 1, 1, 0, 224, 0, 9, 4, 0, 0, 1, 9, 0, 0, 0, 7, 5, 129, 3, 4, 0, 12])
    print(root, flush=True)
    for line in sys.stdin:
        number, what, *words = line.split()
        if what == "plug":
            plug(int(words[0]), int(words[1]), int(words[2], 16), int(words[3], 16))
        elif what == "unplug":
            unplug(int(words[0]))
        elif what == "flood":
            for turn in range(int(words[4])):
                unplug(int(words[0]))
                plug(int(words[0]), int(words[1]) + turn % 50, int(words[2], 16), int(words[3], 16))
        elif what == "deny":
            os.chmod(f"{root}/dev/bus/usb/001/{int(words[0]):03}", 0)
        elif what == "hold":
            attach(bed, f"/dev/bus/usb/001/{int(words[0]):03}".encode(), holder, None)
        print(f"done {number}.", flush=True)
    """#
}
