internal import CFPrint
internal import CGLib
internal import ReaderLink

// libfprint's numbers and Whorl's names for them meet in this file and nowhere else.

extension ReaderError {
  /// Takes the error over (transfer full) and frees it.
  init(taking error: UnsafeMutablePointer<GError>?) {
    guard let error else {
      self = .general("libfprint failed without saying why")
      return
    }
    self.init(error)
    g_error_free(error)
  }

  /// The error by name; it stays the caller's (transfer none).
  private init(_ error: UnsafeMutablePointer<GError>) {
    let code = error.pointee.code
    let text = (error.pointee.message.map { String(cString: $0) } ?? "").printable
    switch error.pointee.domain {
    case fp_device_error_quark(): self = .device(code, text)
    case fp_device_retry_quark(): self = .retry(RetryReason(retryCode: code))
    case g_io_error_quark(): self = .io(code, text)
    case g_file_error_quark(): self = .file(code, text)
    default:
      let domain = g_quark_to_string(error.pointee.domain).map { String(cString: $0) } ?? ""
      self = domain == "g-usb-device-error-quark" ? .usb(code, text) : .unknown(code, text)
    }
  }

  private static func device(_ code: Int32, _ text: String) -> ReaderError {
    switch FpDeviceError(rawValue: UInt32(bitPattern: code)) {
    case FP_DEVICE_ERROR_GENERAL: .general(text)
    case FP_DEVICE_ERROR_NOT_SUPPORTED: .notSupported(text)
    case FP_DEVICE_ERROR_NOT_OPEN: .notOpen(text)
    case FP_DEVICE_ERROR_ALREADY_OPEN: .alreadyOpen(text)
    case FP_DEVICE_ERROR_BUSY: .busy(text)
    case FP_DEVICE_ERROR_PROTO: .protocolError(text)
    case FP_DEVICE_ERROR_DATA_INVALID: .dataInvalid(text)
    case FP_DEVICE_ERROR_DATA_NOT_FOUND: .dataNotFound(text)
    case FP_DEVICE_ERROR_DATA_FULL: .dataFull(text)
    case FP_DEVICE_ERROR_DATA_DUPLICATE: .dataDuplicate(text)
    case FP_DEVICE_ERROR_REMOVED: .removed(text)
    case FP_DEVICE_ERROR_TOO_HOT: .tooHot(text)
    default: .unknown(code, text)
    }
  }

  private static func io(_ code: Int32, _ text: String) -> ReaderError {
    switch GIOErrorEnum(rawValue: UInt32(bitPattern: code)) {
    case G_IO_ERROR_CANCELLED: .cancelled
    case G_IO_ERROR_PERMISSION_DENIED: .permissionDenied(text)
    case G_IO_ERROR_NOT_SUPPORTED: .notSupported(text)
    case G_IO_ERROR_BUSY: .heldElsewhere(text)
    case G_IO_ERROR_INVALID_DATA: .dataInvalid(text)
    default: .unknown(code, text)
    }
  }

  private static func file(_ code: Int32, _ text: String) -> ReaderError {
    switch GFileError(rawValue: UInt32(bitPattern: code)) {
    case G_FILE_ERROR_ACCES, G_FILE_ERROR_PERM: .permissionDenied(text)
    case G_FILE_ERROR_NODEV, G_FILE_ERROR_NXIO: .removed(text)
    case G_FILE_ERROR_NOENT: .removed(text)
    default: .unknown(code, text)
    }
  }

  /// GUsb's `GUsbDeviceError`, whose header is not needed for anything else.
  private static func usb(_ code: Int32, _ text: String) -> ReaderError {
    if let error = libusb(text) { return error }
    return switch code {
    case 7: .cancelled
    case 9: .permissionDenied(text)
    case 3: .notSupported(text)
    default: .general(text)
    }
  }

  /// What libusb said. GUsb ends its text with libusb's own code in brackets; its own is one for several of those: 4 for
  /// a device that is gone and for one that another process holds.
  private static func libusb(_ text: String) -> ReaderError? {
    if text.hasSuffix("[-3]") { return .permissionDenied(text) }
    if text.hasSuffix("[-4]") { return .removed(text) }
    if text.hasSuffix("[-6]") { return .heldElsewhere(text) }
    if text.hasSuffix("[-12]") { return .notSupported(text) }
    return nil
  }

  /// Why libfprint left a device out of its list, from its message about it, which is all that it gives.
  init(ignoring text: String) {
    let text = text.printable
    self = Self.libusb(text) ?? (text.contains("Permission denied") ? .permissionDenied(text) : .general(text))
  }
}

extension RetryReason {
  /// The reason with libfprint's number; a number of a later version counts as ``general``.
  init(retryCode: Int32) {
    self = UInt8(exactly: retryCode).flatMap(RetryReason.init(rawValue:)) ?? .general
  }

  /// The reason of a retry error that stays the caller's (transfer none); nil for no error.
  init?(_ error: UnsafeMutablePointer<GError>?) {
    guard let error else { return nil }
    self.init(retryCode: error.pointee.code)
  }
}
