/// The rests of a reader that has refused to work because it is too hot. Each is twice as long as the one before, until
/// the reader has worked again.
struct CoolDown {
  /// The first rest, and the longest, in milliseconds.
  let shortest: Int64
  let longest: Int64
  private var last: Int64 = 0
  private var end: Int64 = 0

  /// No rest yet; its lengths in milliseconds.
  init(shortest: Int64, longest: Int64) {
    self.shortest = shortest
    self.longest = longest
  }

  /// The reader has refused: it rests from now on. One that rests already goes on resting.
  mutating func refused(at now: Int64) {
    guard remaining(at: now) == 0 else { return }
    last = last == 0 ? shortest : min(longest, last * 2)
    end = now + last
  }

  /// The reader has worked.
  mutating func worked() { last = 0 }

  /// How many milliseconds it still rests; none is 0.
  func remaining(at now: Int64) -> Int64 { max(0, end - now) }
}
