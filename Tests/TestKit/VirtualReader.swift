import Foundation
public import ReaderLink

/// The far end of libfprint's virtual image reader (`FP_VIRTUAL_IMAGE`): puts images and faults on it.
///
/// libfprint listens while the reader is open. A message that comes before an operation waits for the next one (seen
/// with 1.94.5). Within an operation, an image that comes while the reader does not wait for a finger
/// (`finger-needed` is false) is lost without a word: so press again only when the operation asks for the next touch.
public struct VirtualReader: Sendable {
  /// What can be told to the reader.
  public enum Message: Sendable {
    /// A finger was put on, seen as this image, and lifted (unless `automaticFinger` was switched off).
    case image(FingerImage)
    /// The scan has to be repeated.
    case retry(RetryReason)
    /// The operation fails with this code of `FpDeviceError` (0 general, 5 busy ... 0x100 removed, 0x101 too hot).
    case error(Int32)
    /// Whether an image means a finger that comes and goes by itself (the default of each connection).
    case automaticFinger(Bool)
    /// A finger came or went.
    case finger(present: Bool)

    var bytes: [UInt8] {
      switch self {
      case .image(let image): Self.pair(Int32(image.width), Int32(image.height)) + image.pixels
      case .retry(let reason): Self.pair(-1, Int32(reason.rawValue))
      case .error(let code): Self.pair(-2, code)
      case .automaticFinger(let on): Self.pair(-3, on ? 1 : 0)
      case .finger(let present): Self.pair(-4, present ? 1 : 0)
      }
    }

    private static func pair(_ first: Int32, _ second: Int32) -> [UInt8] {
      withUnsafeBytes(of: (first, second)) { [UInt8]($0) }
    }
  }

  /// The socket that `FP_VIRTUAL_IMAGE` names.
  public let socket: String
  /// How long to wait for libfprint to listen and to take the message.
  public let seconds: Int

  /// The reader behind that socket, which need not exist yet.
  public init(socket: String, seconds: Int = 20) {
    self.socket = socket
    self.seconds = seconds
  }

  /// Presses a synthetic finger.
  public func press(_ finger: SyntheticFinger, _ number: Int = 1) async throws {
    try await send([.image(finger.press(number))])
  }

  /// Presses whatever this image shows.
  public func press(_ image: FingerImage) async throws { try await send([.image(image)]) }

  /// Has the running scan repeated: a finger comes, is not seen well, and goes.
  public func retry(_ reason: RetryReason) async throws {
    try await send([.finger(present: true), .retry(reason), .finger(present: false)])
  }

  /// Has the running operation fail with a code of `FpDeviceError`.
  public func fail(_ code: Int32) async throws { try await send([.error(code)]) }

  /// Sends these messages over one connection and returns when libfprint has taken them all.
  public func send(_ messages: [Message]) async throws {
    try await send(bytes: messages.flatMap(\.bytes))
  }

  /// Sends any bytes, for tests of what a hostile device might do.
  public func send(bytes: [UInt8]) async throws {
    let (socket, seconds) = (socket, seconds)
    _ = try await offPool { try SocketClient.deliver(bytes, to: socket, seconds: seconds) }
  }
}

/// The far end of libfprint's text-driven virtual readers (`FP_VIRTUAL_DEVICE`, `FP_VIRTUAL_DEVICE_STORAGE`).
public struct VirtualDevice: Sendable {
  /// The socket that the variable names.
  public let socket: String
  /// How long to wait for libfprint to listen and to take the command.
  public let seconds: Int

  /// The reader behind that socket, which need not exist yet.
  public init(socket: String, seconds: Int = 20) {
    self.socket = socket
    self.seconds = seconds
  }

  /// Sends one command (`SCAN id`, `INSERT id`, `REMOVE id`, `LIST`, `ERROR n`, `RETRY n`, `FINGER 0|1`, `SLEEP ms`,
  /// `UNPLUG`, `SET_ENROLL_STAGES n`, `SET_SCAN_TYPE press|swipe`, `SET_CANCELLATION_ENABLED 0|1`,
  /// `SET_KEEP_ALIVE 0|1`) and gives what libfprint answers, which only `LIST` makes it do.
  @discardableResult
  public func command(_ text: String) async throws -> String {
    let (socket, seconds) = (socket, seconds)
    let answer = try await offPool { try SocketClient.deliver(Array(text.utf8), to: socket, seconds: seconds) }
    return String(decoding: answer, as: UTF8.self)
  }

  /// The finger `id` is put on the reader.
  public func scan(_ id: String) async throws { try await command("SCAN \(id)") }

  /// The identifiers of the prints in the reader's own storage.
  public func storedPrints() async throws -> [String] {
    try await command("LIST").split(separator: "\n").map(String.init)
  }
}
