internal import CFPrint
internal import CGLib
internal import GLibLoop
public import ReaderLink

/// What happens while an enrolment runs.
public enum EnrollStep: Sendable, Hashable {
  /// This many stages are done.
  case stage(Int)
  /// The touch did not count and has to be repeated.
  case retry(RetryReason)
}

/// What happens while a finger is checked, before the operation has ended.
public enum MatchStep: Sendable, Hashable {
  /// The touch did not count; the operation will end with `.retry`.
  case retry(RetryReason)
  /// The verdict; the operation may still wait for the finger to be lifted. The index of the print, or nil.
  case verdict(Int?)
  /// Before the verdict that none matched: the finger is this print of the reader's own storage.
  case stranger([UInt8])
}

extension Reader {
  /// Opens the reader. Throws `.alreadyOpen`, `.permissionDenied` and the driver's own errors.
  public func open() async throws(ReaderError) {
    try await asyncCall {
      fp_device_open(device, $0, $1, $2)
    } finish: { result in
      self.ended { fp_device_open_finish(self.device, result, $0) }
    }
  }

  /// Closes the reader. Throws `.notOpen`, and `.busy` while an operation runs.
  public func close() async throws(ReaderError) {
    try await asyncCall {
      fp_device_close(device, $0, $1, $2)
    } finish: { result in
      self.ended { fp_device_close_finish(self.device, result, $0) }
    }
  }

  /// Enrols a finger.
  ///
  /// - Parameters:
  ///   - finger: written into the print; nil leaves it out.
  ///   - user: written into the print; empty leaves it out.
  ///   - progress: told of each stage and each touch to repeat, all before this returns.
  public func enroll(
    finger: Finger?, user: String, progress: @escaping @GLibActor (EnrollStep) -> Void
  ) async throws(ReaderError) -> Print {
    let template = makeTemplate(finger: finger, user: user)
    let steps = StepBox<EnrollStep>(progress)
    return try await asyncCall { cancellable, callback, data in
      // Keeps a reference of its own to the template. The box is retained here and released by the destroy notify.
      fp_device_enroll(
        device, template.pointer, cancellable,
        { _, completed, _, data, error in
          // The print and the error are libfprint's (transfer none).
          let reason = RetryReason(error)
          StepBox<EnrollStep>.tell(data, reason.map { .retry($0) } ?? .stage(Int(completed)))
        }, Unmanaged.passRetained(steps).toOpaque(), { StepBox<EnrollStep>.free($0) }, callback, data)
    } finish: { result in
      var error: UnsafeMutablePointer<GError>?
      guard let print = fp_device_enroll_finish(self.device, result, &error) else {
        return .failure(ReaderError(taking: error))
      }
      return .success(Print(taking: print))  // transfer full
    }
  }

  /// Checks one touch against one print. Throws `.retry` for a touch that has to be repeated: call it again then.
  public func verify(
    _ print: Print, progress: @escaping @GLibActor (MatchStep) -> Void
  ) async throws(ReaderError) -> Bool {
    try requireFit(print)
    let steps = StepBox<MatchStep>(progress)
    return try await asyncCall { cancellable, callback, data in
      // Keeps a reference of its own to the print. libfprint may call match_cb more than once, so the box is not
      // taken by the call but released by the destroy notify.
      fp_device_verify(
        device, print.pointer, cancellable,
        { _, match, _, data, error in
          let reason = RetryReason(error)
          StepBox<MatchStep>.tell(data, reason.map { .retry($0) } ?? .verdict(match == nil ? nil : 0))
        }, Unmanaged.passRetained(steps).toOpaque(), { StepBox<MatchStep>.free($0) }, callback, data)
    } finish: { result in
      var matched: gboolean = 0
      return self.ended { fp_device_verify_finish(self.device, result, &matched, nil, $0) }.map { matched != 0 }
    }
  }

  /// Tells which of the prints one touch matches: its index, or nil for none. Throws `.retry` as ``verify`` does.
  public func identify(
    _ prints: [Print], progress: @escaping @GLibActor (MatchStep) -> Void
  ) async throws(ReaderError) -> Int? {
    for print in prints { try requireFit(print) }
    let steps = StepBox<MatchStep>(progress)
    steps.gallery = prints
    steps.tellsStrangers = features.contains(.storage)
    // The array owns a reference to each print, as libfprint keeps it for as long as it needs.
    let gallery = g_ptr_array_new_with_free_func({ g_object_unref($0) })
    defer { g_ptr_array_unref(gallery) }
    for print in prints { g_ptr_array_add(gallery, g_object_ref(gpointer(print.pointer))) }
    return try await asyncCall { cancellable, callback, data in
      fp_device_identify(
        device, gallery, cancellable,
        { _, match, print, data, error in
          if let reason = RetryReason(error) { return StepBox<MatchStep>.tell(data, .retry(reason)) }
          // Image sensors give the scan itself, chips what they found.
          if match == nil, let print { StepBox<MatchStep>.tellStranger(data, UInt(bitPattern: print)) }
          let address = match.map { UInt(bitPattern: $0) }
          StepBox<MatchStep>.tell(data) { .verdict($0.index(of: address)) }
        }, Unmanaged.passRetained(steps).toOpaque(), { StepBox<MatchStep>.free($0) }, callback, data)
    } finish: { result in
      var match: OpaquePointer?
      return self.ended { fp_device_identify_finish(self.device, result, &match, nil, $0) }.map {
        // A reference of ours (transfer full) to one of the prints that were given.
        defer { if let match { g_object_unref(gpointer(match)) } }
        return steps.index(of: match.map { UInt(bitPattern: $0) })
      }
    }
  }

  /// Takes one image, waiting for a finger.
  public func capture() async throws(ReaderError) -> Image {
    try await asyncCall {
      fp_device_capture(device, 1, $0, $1, $2)
    } finish: { result in
      var error: UnsafeMutablePointer<GError>?
      guard let image = fp_device_capture_finish(self.device, result, &error) else {
        return .failure(ReaderError(taking: error))
      }
      defer { g_object_unref(gpointer(image)) }  // transfer full
      return .success(Image(copying: image))
    }
  }

  /// The prints in the reader's own storage.
  public func listPrints() async throws(ReaderError) -> [Print] {
    try await asyncCall {
      fp_device_list_prints(device, $0, $1, $2)
    } finish: { result in
      var error: UnsafeMutablePointer<GError>?
      guard let list = fp_device_list_prints_finish(self.device, result, &error) else {
        return .failure(ReaderError(taking: error))
      }
      // The array is ours and frees its prints, so each print that is kept needs a reference of its own.
      defer { g_ptr_array_unref(list) }
      let count = Int(list.pointee.len)
      return .success(
        (0..<count).compactMap { index in
          list.pointee.pdata[index].map { Print(taking: OpaquePointer(g_object_ref($0))) }
        })
    }
  }

  /// Deletes a print from the reader's own storage.
  public func delete(_ print: Print) async throws(ReaderError) {
    try requireFit(print)
    try await asyncCall {
      fp_device_delete_print(device, print.pointer, $0, $1, $2)
    } finish: { result in
      self.ended { fp_device_delete_print_finish(self.device, result, $0) }
    }
  }

  /// Deletes every print from the reader's own storage.
  public func clearStorage() async throws(ReaderError) {
    try await asyncCall {
      fp_device_clear_storage(device, $0, $1, $2)
    } finish: { result in
      self.ended { fp_device_clear_storage_finish(self.device, result, $0) }
    }
  }

  /// Checks that a print was enrolled with this reader, as one of another driver or device would only puzzle the driver,
  /// and that it is of a kind that can be matched there. Throws `.dataInvalid`.
  public func requireFit(_ print: Print) throws(ReaderError) {
    guard fp_print_compatible(print.pointer, device) != 0 else {
      throw .dataInvalid("the print was enrolled with another reader than \(name.printable)")
    }
    // One of another kind would end the check against all others with an error.
    if isImageReader, print.holdsMinutiae == false {
      throw .dataInvalid("the print is damaged: it holds nothing that \(name.printable) could be checked against")
    }
  }

  // MARK: Helpers

  /// Whether libfprint does the matching, and not the reader.
  private var isImageReader: Bool {
    // Every object of GLib's begins with its type.
    let instance = UnsafeMutableRawPointer(device).assumingMemoryBound(to: GTypeInstance.self)
    return g_type_check_instance_is_a(instance, fp_image_device_get_type()) != 0
  }

  /// What a finish function that gives a boolean says.
  private func ended(
    _ finish: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> gboolean
  ) -> Result<Void, ReaderError> {
    var error: UnsafeMutablePointer<GError>?
    return finish(&error) != 0 ? .success(()) : .failure(ReaderError(taking: error))
  }

  private func makeTemplate(finger: Finger?, user: String) -> Print {
    // Floating: sinking makes the reference ours.
    let template = Print(taking: OpaquePointer(g_object_ref_sink(gpointer(fp_print_new(device)))))
    if let finger { fp_print_set_finger(template.pointer, FpFinger(rawValue: UInt32(finger.rawValue))) }
    if !user.isEmpty { fp_print_set_username(template.pointer, user) }
    // As fprintd does: the local date, copied by libfprint. Chips write it into their own storage beside the name, so a
    // template without a name carries no date either.
    if finger != nil || !user.isEmpty, let now = g_date_time_new_now_local() {
      let date = g_date_new_dmy(
        GDateDay(g_date_time_get_day_of_month(now)), GDateMonth(rawValue: UInt32(g_date_time_get_month(now))),
        GDateYear(g_date_time_get_year(now)))
      fp_print_set_enroll_date(template.pointer, date)
      g_date_free(date)
      g_date_time_unref(now)
    }
    return template
  }
}

/// What progress callbacks carry.
@GLibActor
private final class StepBox<Step: Sendable> {
  private let progress: @GLibActor (Step) -> Void
  /// The prints of an identification, to tell them by their addresses.
  var gallery: [Print] = []

  /// Whether the reader has prints of its own.
  var tellsStrangers = false

  init(_ progress: @escaping @GLibActor (Step) -> Void) { self.progress = progress }

  func index(of address: UInt?) -> Int? {
    guard let address else { return nil }
    return gallery.firstIndex { UInt(bitPattern: $0.pointer) == address }
  }

  nonisolated static func tell(_ data: gpointer?, _ step: Step) { tell(data) { _ in step } }

  nonisolated static func tell(_ data: gpointer?, _ step: @GLibActor (StepBox) -> Step) {
    guard let data else { return }
    let box = Unmanaged<StepBox>.fromOpaque(data).takeUnretainedValue()
    GLibActor.assumeIsolated { box.progress(step(box)) }
  }

  /// Tells of a print of the reader's own, at this address and alive during the call.
  nonisolated static func tellStranger(_ data: gpointer?, _ address: UInt) where Step == MatchStep {
    guard let data else { return }
    let box = Unmanaged<StepBox>.fromOpaque(data).takeUnretainedValue()
    GLibActor.assumeIsolated {
      guard box.tellsStrangers, let pointer = UnsafeMutableRawPointer(bitPattern: address) else { return }
      // The callback's print stays libfprint's (transfer none), so this reference is of our own.
      let print = Print(taking: OpaquePointer(g_object_ref(pointer)))
      if let bytes = try? print.serialized() { box.progress(.stranger(bytes)) }
    }
  }

  nonisolated static func free(_ data: gpointer?) {
    if let data { Unmanaged<StepBox>.fromOpaque(data).release() }
  }
}
