/// How a request waits for fingers.
public struct VerificationOptions: Sendable, Hashable {
  /// Seconds from the call to its end, whatever happens: the time in the queue and every touch included. 1 to 300.
  public let timeout: Int
  /// How many touches that do not match end the request with `.authenticationFailed`. 1 to 5.
  public let maxTries: Int
  /// Fails with `.busy` where the reader serves another request, instead of waiting.
  public let noWait: Bool
  /// Whether the request may prompt; `.notInteractive` where it would have to and may not.
  public let allowsInteraction: Bool
  /// Whether the program goes on by itself where the person wants another way than the finger: that ends the request with
  /// `.userFallback`, where the passcode would not do.
  public let offersFallback: Bool

  /// 30 seconds, three tries, waits for a busy reader.
  public init() {
    timeout = 30
    maxTries = 3
    noWait = false
    allowsInteraction = true
    offersFallback = false
  }

  /// Options with these values.
  /// - Throws: `.parameter` where one is out of its range.
  public init(
    timeout: Int = 30, maxTries: Int = 3, noWait: Bool = false, allowsInteraction: Bool = true,
    offersFallback: Bool = false
  ) throws(EnclaveError) {
    guard (1...300).contains(timeout) else { throw .parameter("timeout is \(timeout); it must be 1 to 300 seconds") }
    guard (1...5).contains(maxTries) else { throw .parameter("max-tries is \(maxTries); it must be 1 to 5") }
    self.timeout = timeout
    self.maxTries = maxTries
    self.noWait = noWait
    self.allowsInteraction = allowsInteraction
    self.offersFallback = offersFallback
  }
}

/// What a request tells on its way, in order; nothing comes after the request's end.
public enum VerificationProgress: Sendable, Hashable {
  /// Another request has the reader; this one waits for its turn (also when it had the reader and gives way).
  case queued
  /// The reader waits for a touch for this request.
  case waiting(reader: String, scanType: String, fingers: [String])
  /// The touch was not readable: repeat it.
  case retry(reason: String)
  /// The finger is not one of the user's; this many tries are left, 0 where the request ends with it.
  case noMatch(triesLeft: Int)
  /// The finger of this name matched.
  case matched(finger: String)
}

/// Takes progress; called on any thread, one call at a time. Must not wait.
public typealias ProgressHandler = @Sendable (VerificationProgress) -> Void
