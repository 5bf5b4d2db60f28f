extension ReaderKeeper {
  /// How long the bridge may take, in milliseconds, before it is killed and replaced.
  public struct Limits: Sendable {
    /// From its start to its list of readers.
    public var start = 20_000
    /// To open or close a reader, or to work on a reader's own storage.
    public var answer = 30_000
    /// To show that it is alive while a request runs, a touch awaited included.
    public var pong = 5_000
    /// Between one sign of life and the next question for one.
    public var pingInterval = 2_000
    /// To end a request that was cancelled, and to end itself.
    public var cancel = 5_000
    /// How long a bridge without an open reader is kept.
    public var idle = 30_000
    /// How often one verification may ask for the touch again before it is given up with `.retry`. A number of touches.
    public var retries = 20

    /// The values that are good for real readers.
    public static let standard = Limits()

    /// The standard values, to be changed one by one.
    public init() {}
  }
}
