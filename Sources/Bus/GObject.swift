internal import CGLib

/// One strong reference to a GObject.
///
/// Unchecked: the reference count is atomic, and the pointer never changes. What is called on the object is the
/// business of who calls it.
final class GObjectReference: @unchecked Sendable {
  let pointer: OpaquePointer

  /// Takes over a reference that is ours (transfer full).
  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  /// Adds a reference of our own (transfer none).
  init(retaining pointer: OpaquePointer) {
    g_object_ref(UnsafeMutableRawPointer(pointer))
    self.pointer = pointer
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
}

/// A GCancellable, which may be cancelled from every thread.
struct Cancellable: Sendable {
  private let object = GObjectReference(owning: cancellableObject())

  var pointer: UnsafeMutablePointer<GCancellable> { UnsafeMutablePointer(object.pointer) }

  func cancel() { g_cancellable_cancel(pointer) }
}

private func cancellableObject() -> OpaquePointer { OpaquePointer(g_cancellable_new()) }

/// Frees a GError and tells what it said.
func consume(_ error: UnsafeMutablePointer<GError>?) -> BusError {
  guard let error else { return .failed("no reason given") }
  defer { g_error_free(error) }
  let io = g_io_error_quark()
  if error.pointee.domain == io {
    switch UInt32(bitPattern: error.pointee.code) {
    case G_IO_ERROR_CANCELLED.rawValue: return .cancelled
    case G_IO_ERROR_CLOSED.rawValue: return .closed
    case G_IO_ERROR_TIMED_OUT.rawValue: return .timedOut("the bus")
    default: break
    }
  }
  return .failed(error.pointee.message.map { String(cString: $0) } ?? "no reason given")
}

/// Attaches duplicates of `descriptors`, which stay the caller's.
func attach(_ descriptors: [Int32]) throws(BusError) -> GObjectReference? {
  guard !descriptors.isEmpty else { return nil }
  let list = GObjectReference(owning: OpaquePointer(g_unix_fd_list_new()))
  for descriptor in descriptors {
    var error: UnsafeMutablePointer<GError>?
    guard descriptor >= 0, g_unix_fd_list_append(UnsafeMutablePointer(list.pointer), descriptor, &error) >= 0 else {
      let reason = error.map { consume($0).description } ?? "not a descriptor"
      throw .invalid("descriptor \(descriptor): \(reason)")
    }
  }
  return list
}
