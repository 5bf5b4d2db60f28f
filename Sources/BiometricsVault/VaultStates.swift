/// The states of a vault, from the one that it is in on, each change once and in order. Not in the original.
public struct VaultStates<Credentials: Codable>: AsyncSequence {
  /// A state.
  public typealias Element = VaultState<Credentials>

  private let changes: AsyncStream<Void>
  private let queue: Queue

  @MainActor
  init(first: Element, _ register: (Queue) -> Void) {
    let (changes, signal) = AsyncStream.makeStream(of: Void.self)
    queue = Queue(signal)
    self.changes = changes
    queue.add(first)
    register(queue)
  }

  /// Ends with the vault.
  public func makeAsyncIterator() -> Iterator { Iterator(changes: changes.makeAsyncIterator(), queue: queue) }

  /// Gives one state after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var changes: AsyncStream<Void>.Iterator
    fileprivate let queue: Queue

    /// The next state; nil once the vault or the task has ended. For the main actor.
    @MainActor
    public mutating func next() async -> Element? {
      guard await changes.next(isolation: MainActor.shared) != nil else { return nil }
      return queue.take()
    }
  }

  /// What one listener has yet to hear.
  @MainActor
  final class Queue {
    private var states: [Element] = []
    private let signal: AsyncStream<Void>.Continuation

    fileprivate init(_ signal: AsyncStream<Void>.Continuation) { self.signal = signal }

    /// False where nobody listens any more.
    @discardableResult
    func add(_ state: Element) -> Bool {
      states.append(state)
      if case .terminated = signal.yield() { return false }
      return true
    }

    fileprivate func take() -> Element? { states.isEmpty ? nil : states.removeFirst() }

    deinit { signal.finish() }
  }
}
