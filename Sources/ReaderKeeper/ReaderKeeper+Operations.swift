internal import GLibLoop
public import ReaderLink

/// What happens while an enrolment runs.
public enum EnrollEvent: Sendable, Hashable {
  /// So many of the stages are done.
  case stage(Int, of: Int)
  /// The touch did not count and has to be repeated.
  case retry(RetryReason)
}

/// One picture from a reader, 8-bit grey, row by row from the top.
public struct Image: Sendable, Hashable {
  /// In pixels.
  public var width: Int
  /// In pixels.
  public var height: Int
  /// `width * height` bytes.
  public var pixels: [UInt8]

  /// An image of these pixels.
  public init(width: Int, height: Int, pixels: [UInt8]) {
    self.width = width
    self.height = height
    self.pixels = pixels
  }
}

extension ReaderKeeper {
  /// Opens a reader. Throws `.alreadyOpen`, `.permissionDenied` and the driver's own errors.
  public func open(_ reader: ReaderID) async throws(ReaderError) {
    _ = try await ask(reader) { .open(reader: $0) }
  }

  /// Closes a reader. Throws `.notOpen`; with a new bridge since ``open(_:)`` there is nothing to close.
  public func close(_ reader: ReaderID) async throws(ReaderError) {
    _ = try await ask(reader) { .close(reader: $0) }
  }

  /// Enrols a finger on an open reader.
  ///
  /// - Parameters:
  ///   - finger: written into the print; nil leaves it out.
  ///   - user: written into the print; empty leaves it out.
  ///   - progress: told of each stage and each touch to repeat, all before this returns.
  /// - Returns: the print as fprintd keeps it in a file.
  public func enroll(
    _ reader: ReaderID, finger: Finger?, user: String, progress: @escaping @GLibActor (EnrollEvent) -> Void
  ) async throws(ReaderError) -> [UInt8] {
    let tell: @GLibActor (ReaderEvent) -> Void = { event in
      switch event {
      case .enrollProgress(_, let stage, let total): progress(.stage(Int(stage), of: Int(total)))
      case .retry(_, let reason): progress(.retry(reason))
      default: break
      }
    }
    let reply = try await ask(reader, progress: tell) { .enroll(reader: $0, finger: finger, user: user) }
    guard case .print(let print) = reply else { throw .unexpected }
    return print
  }

  /// Checks touches against one print until one counts; whether it matched. Returns as soon as that is known, though
  /// the finger may still lie on the reader.
  ///
  /// - Parameter progress: told of each touch that has to be repeated.
  /// - Throws: `.retry` only after ``Limits/retries`` such touches.
  public func verify(
    _ reader: ReaderID, print: [UInt8], progress: @escaping @GLibActor (RetryReason) -> Void = { _ in }
  ) async throws(ReaderError) -> Bool {
    let verdict = try await match(reader, progress) { .verify(reader: $0, print: print) }
    return verdict != nil
  }

  /// Checks touches against several prints until one counts; the index of the print that it matched, or nil. Otherwise
  /// as ``verify(_:print:progress:)``.
  ///
  /// - Parameter unusable: told, at most once and before this returns, the indices of the prints that are damaged or
  ///   another reader's, in rising order. They are left out as long as one good print remains.
  /// - Throws: `.dataInvalid` where no print is good.
  public func identify(
    _ reader: ReaderID, prints: [[UInt8]], unusable: @escaping @GLibActor ([Int]) -> Void = { _ in },
    progress: @escaping @GLibActor (RetryReason) -> Void = { _ in }
  ) async throws(ReaderError) -> Int? {
    try await match(reader, progress, unusable) { .identify(reader: $0, prints: prints) }
  }

  /// Checks touches as ``identify(_:prints:unusable:progress:)`` does, to find out whether a finger is known.
  ///
  /// - Parameter stranger: told, before this returns nil, the print of the reader's own storage that the finger is,
  ///   where it is none of those given; good for deleting it there.
  public func identify(
    _ reader: ReaderID, among prints: [[UInt8]], unusable: @escaping @GLibActor ([Int]) -> Void,
    stranger: @escaping @GLibActor ([UInt8]) -> Void,
    progress: @escaping @GLibActor (RetryReason) -> Void
  ) async throws(ReaderError) -> Int? {
    try await match(reader, progress, unusable, stranger) { .identify(reader: $0, prints: prints) }
  }

  /// Takes one image, waiting for a finger.
  public func capture(_ reader: ReaderID) async throws(ReaderError) -> Image {
    guard case .image(let width, let height, let pixels) = try await ask(reader, { .capture(reader: $0) }) else {
      throw .unexpected
    }
    return Image(width: Int(width), height: Int(height), pixels: pixels)
  }

  /// The prints in the reader's own storage.
  public func listPrints(_ reader: ReaderID) async throws(ReaderError) -> [[UInt8]] {
    guard case .prints(let prints) = try await ask(reader, { .listPrints(reader: $0) }) else { throw .unexpected }
    return prints
  }

  /// The prints in the reader's own storage with what libfprint reads in each, and which of the prints on the disk it is.
  ///
  /// - Parameter known: at most `LinkLimits.prints` prints as fprintd keeps them in files; those that are damaged or
  ///   another reader's equal nothing.
  /// - Returns: ``ReaderLink/StoredPrint/knownIndex`` is an index into `known`.
  /// - Throws: `.notSupported` where the reader cannot list its storage, `.notOpen`.
  public func storedPrints(
    _ reader: ReaderID, known: [[UInt8]]
  ) async throws(ReaderError) -> [StoredPrint] {
    let reply = try await ask(reader) { .storedPrints(reader: $0, known: known) }
    guard case .storedPrints(let prints) = reply else { throw .unexpected }
    return prints.map { print in
      var copy = print
      copy.user = print.user.printable
      copy.driver = print.driver.printable
      copy.deviceID = print.deviceID.printable
      return copy
    }
  }

  /// Deletes a print from the reader's own storage.
  public func deletePrint(_ reader: ReaderID, print: [UInt8]) async throws(ReaderError) {
    _ = try await ask(reader) { .deletePrint(reader: $0, print: print) }
  }

  /// Deletes every print from the reader's own storage.
  public func clearStorage(_ reader: ReaderID) async throws(ReaderError) {
    _ = try await ask(reader) { .clearStorage(reader: $0) }
  }

  private func match(
    _ reader: ReaderID, _ progress: @escaping @GLibActor (RetryReason) -> Void,
    _ unusable: @escaping @GLibActor ([Int]) -> Void = { _ in },
    _ stranger: @escaping @GLibActor ([UInt8]) -> Void = { _ in },
    _ request: @GLibActor (UInt32) -> ReaderRequest
  ) async throws(ReaderError) -> Int? {
    var retries = 0
    var hasTold = false
    let tell: @GLibActor (ReaderEvent) -> Void = { event in
      switch event {
      // Each touch is a request of its own with the same prints.
      case .unusablePrints(_, let indices) where !hasTold:
        hasTold = true
        unusable(indices.map(Int.init).sorted())
      case .strangerPrint(_, let print): stranger(print)
      default: break
      }
    }
    while true {
      do throws(ReaderError) {
        // A retry is told by the error that ends the operation; the event that most readers send before says the same.
        let reply = try await ask(reader, progress: tell, request)
        guard case .verdict(let matched, let index) = reply else { throw .unexpected }
        return matched ? Int(index) : nil
      } catch .retry(let reason) {
        progress(reason)
        retries += 1
        if retries >= limits.retries { throw .retry(reason) }
        if Task.isCancelled { throw .cancelled }
      } catch {
        throw error
      }
    }
  }
}

extension ReaderError {
  /// The session lets no answer of another kind through; said all the same rather than trapped.
  fileprivate static let unexpected = ReaderError.bridgeFailed("it answered nonsense")
}
