internal import Keychain

/// One request that waits for a touch.
struct Operation {
  /// How it ended well.
  enum Proof {
    /// By a touch that was made for it.
    case touch(Touch)
    /// Its context came to cover it meanwhile (reuse time, passcode); to be looked up and taken there.
    case covered
  }

  let id: UInt64
  let user: UserID
  /// The bus connection of the program that asks.
  let connection: String
  /// None for a login.
  let context: ContextID?
  let need: AuthenticationContext.Need
  let scope: MatchScope
  let noWait: Bool
  /// Whether the program has a way of its own where a finger alone will do here.
  let offersFallback: Bool
  /// `EnclaveClock.uptime()` at which it ends, whatever happens.
  let deadline: Int64
  let seconds: Int
  let reporter: ProgressReporter
  /// Resumed exactly once, by `Enclave.finish`, which removes the operation.
  let continuation: CheckedContinuation<Result<Proof, EnclaveError>, Never>
  var triesLeft: Int
  var driver: Task<Void, Never>?
  var timer: Task<Void, Never>?

  /// Whether the person may choose another way than the finger.
  var hasFallback: Bool { need.takesPasscode || offersFallback }
}

/// The one request that has the sensor.
struct ActiveWait {
  let operation: UInt64
  let user: UserID
  let since: Int64
  /// Ends when the sensor has let go, which may be later than the operation's end.
  var task: Task<Void, Never>?
  var timer: Task<Void, Never>?
  /// It is to go back into the queue, for another user's sake.
  var givesWay = false
}
