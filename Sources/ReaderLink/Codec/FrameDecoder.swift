/// Cuts a stream of bytes into messages. Holds at most one unfinished message of the largest size plus what was
/// appended last.
public struct FrameDecoder: Sendable {
  private var buffer: [UInt8] = []
  private var position = 0
  private let limit: Int

  /// An empty decoder for messages of at most `limit` bytes: `LinkLimits.requestBytes` or `LinkLimits.answerBytes`.
  public init(limit: Int) { self.limit = limit }

  /// Adds bytes as they came.
  public mutating func append(_ bytes: some Sequence<UInt8>) {
    if position > 0 {
      buffer.removeFirst(position)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Whether the bytes so far end inside a message.
  public var isInsideMessage: Bool { position < buffer.count }

  /// The next whole message without its length; nil until more bytes come.
  ///
  /// - Throws: `.tooLarge` or `.invalid` for a length that no message has; the stream is of no use after that.
  public mutating func next() throws(LinkError) -> [UInt8]? {
    guard buffer.count - position >= 4 else { return nil }
    var length = 0
    for index in 0..<4 { length |= Int(buffer[position + index]) << (8 * index) }
    guard length <= limit else { throw .tooLarge("a message") }
    guard length > 0 else { throw .invalid("a message's length") }
    guard buffer.count - position - 4 >= length else { return nil }
    let start = position + 4
    position = start + length
    return Array(buffer[start..<position])
  }
}
