internal import CFPrint
internal import CGLib
public import GLibLoop
internal import Glibc
public import ReaderLink

/// One fingerprint reader. Runs one operation at a time; libfprint answers a second one with `.busy`.
///
/// Each operation throws a `ReaderError`, and `.cancelled` when its task is cancelled: the reader is ready for the next
/// operation by then.
@GLibActor
public final class Reader {
  // A reference of ours.
  let device: UnsafeMutablePointer<FpDevice>
  private var signals: [gulong] = []

  /// Told when the reader starts or stops to wait for a finger, or sees one.
  public var onFingerStatus: (@GLibActor (_ needed: Bool, _ present: Bool) -> Void)?
  /// Told when the reader has become warmer or cooler.
  public var onTemperature: (@GLibActor (ReaderTemperature) -> Void)?
  /// Told when the number of stages or the way of scanning has changed, which some drivers learn late.
  public var onDescriptionChanged: (@GLibActor () -> Void)?
  /// Told once when the reader was unplugged.
  public var onRemoved: (@GLibActor () -> Void)?

  /// Refers to a device that stays the caller's (transfer none).
  init(_ device: UnsafeMutablePointer<FpDevice>) {
    self.device = device
    g_object_ref(device)
    let observe: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { _, _, data in
      Reader.withReader(data) { reader in
        let status = reader.fingerStatus
        reader.onFingerStatus?(status.needed, status.present)
      }
    }
    let described: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { _, _, data in
      Reader.withReader(data) { $0.onDescriptionChanged?() }
    }
    let removed: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
      Reader.withReader(data) { $0.onRemoved?() }
    }
    let warmed: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { _, _, data in
      Reader.withReader(data) { $0.onTemperature?($0.temperature) }
    }
    connect("notify::finger-status", unsafeBitCast(observe, to: GCallback.self))
    connect("notify::temperature", unsafeBitCast(warmed, to: GCallback.self))
    connect("notify::nr-enroll-stages", unsafeBitCast(described, to: GCallback.self))
    connect("notify::scan-type", unsafeBitCast(described, to: GCallback.self))
    connect("removed", unsafeBitCast(removed, to: GCallback.self))
  }

  /// libfprint's identifier of the driver, such as `goodixmoc`.
  public var driver: String { text(fp_device_get_driver(device)) }
  /// libfprint's identifier of the device, mostly `0`.
  public var deviceID: String { text(fp_device_get_device_id(device)) }
  /// The driver's full name, for people.
  public var name: String { text(fp_device_get_name(device)) }
  /// Whether ``open()`` succeeded and ``close()`` has not.
  public var isOpen: Bool { fp_device_is_open(device) != 0 }
  /// Whether libfprint says that it was unplugged.
  public var isRemoved: Bool {
    var value = GValue()
    g_value_init(&value, GType(5 << 2))  // G_TYPE_BOOLEAN
    g_object_get_property(UnsafeMutableRawPointer(device).assumingMemoryBound(to: GObject.self), "removed", &value)
    defer { g_value_unset(&value) }
    return g_value_get_boolean(&value) != 0
  }
  /// Press or swipe.
  public var scanType: ScanType { fp_device_get_scan_type(device) == FP_SCAN_TYPE_SWIPE ? .swipe : .press }
  /// What the reader can do.
  public var features: ReaderFeatures { ReaderFeatures(rawValue: fp_device_get_features(device).rawValue) }
  /// How many good touches an enrolment takes; some drivers know it only while open.
  public var enrollStages: Int { max(0, Int(fp_device_get_nr_enroll_stages(device))) }

  /// How warm libfprint believes the sensor to be.
  public var temperature: ReaderTemperature {
    ReaderTemperature(rawValue: UInt8(clamping: fp_device_get_temperature(device).rawValue)) ?? .cold
  }
  /// Whether it waits for a finger, and whether one lies on it, as far as the driver tells.
  public var fingerStatus: (needed: Bool, present: Bool) {
    let status = fp_device_get_finger_status(device).rawValue
    return (status & FP_FINGER_STATUS_NEEDED.rawValue != 0, status & FP_FINGER_STATUS_PRESENT.rawValue != 0)
  }

  /// Where libfprint found the reader, such as `usb:01:00:03` (bus and ports, not the address) or `/dev/spidev0.0`; empty
  /// where it does not say.
  public var place: String {
    for name in ["fpi-usb-device", "fpi-udev-data-spidev", "fpi-udev-data-hidraw"] {
      let text = property(name)
      if !text.isEmpty { return text }
    }
    return ""
  }

  /// These properties are readable but not documented, so each step looks before it leaps.
  private func property(_ name: String) -> String {
    let kind = UnsafeMutableRawPointer(device).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
    guard let kind, g_object_class_find_property(UnsafeMutablePointer<GObjectClass>(OpaquePointer(kind)), name) != nil
    else { return "" }
    var value = GValue()
    // The value holds a copy or a reference of its own, dropped by g_value_unset.
    g_object_get_property(UnsafeMutableRawPointer(device).assumingMemoryBound(to: GObject.self), name, &value)
    defer { g_value_unset(&value) }
    if g_type_check_value_holds(&value, GType(16 << 2)) != 0 { return text(g_value_get_string(&value)) }
    // libfprint keeps its own reference to the USB device for as long as the reader lives.
    guard g_type_check_value_holds(&value, GType(20 << 2)) != 0, let usb = g_value_get_object(&value) else { return "" }
    // GUsb comes with libfprint; its headers are not needed for anything else. The text stays the device's (transfer none).
    guard let symbol = dlsym(nil, "g_usb_device_get_platform_id") else { return "" }
    typealias PlatformID = @convention(c) (gpointer) -> UnsafePointer<gchar>?
    return text(unsafeBitCast(symbol, to: PlatformID.self)(usb))
  }

  private func text(_ pointer: UnsafePointer<gchar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

  // MARK: Signals

  /// The signal holds a weak box, so that it does not keep the reader alive; freed with the connection.
  private func connect(_ signal: String, _ callback: GCallback) {
    signals.append(
      g_signal_connect_data(
        device, signal, callback, Unmanaged.passRetained(WeakReader(self)).toOpaque(),
        { data, _ in if let data { Unmanaged<WeakReader>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0)))
  }

  private nonisolated static func withReader(_ data: gpointer?, _ body: @GLibActor (Reader) -> Void) {
    guard let data else { return }
    let box = Unmanaged<WeakReader>.fromOpaque(data).takeUnretainedValue()
    GLibActor.assumeIsolated { if let reader = box.reader { body(reader) } }
  }

  isolated deinit {
    for signal in signals { g_signal_handler_disconnect(device, signal) }
    g_object_unref(device)
  }
}

@GLibActor
private final class WeakReader {
  weak var reader: Reader?

  init(_ reader: Reader) { self.reader = reader }
}
