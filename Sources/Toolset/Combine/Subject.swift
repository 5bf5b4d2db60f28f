internal import Foundation

/// A publisher whose values come from outside.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
  /// Gives a value to everybody who listens.
  func send(_ value: Output)
  /// Tells everybody the end; nothing is given after it.
  func send(completion: Subscribers.Completion<Failure>)
}

extension Subject where Output == Void {
  /// Tells everybody.
  public func send() { send(()) }
}

/// Gives what is sent while somebody listens.
public final class PassthroughSubject<Output, Failure: Error>: Subject {
  private let listeners = Listeners<Output, Failure>()

  /// One that nobody listens to yet.
  public init() {}

  /// See ``Subject``.
  public func send(_ value: Output) { listeners.send(value) }
  /// See ``Subject``.
  public func send(completion: Subscribers.Completion<Failure>) { listeners.end(completion) }
  /// See ``Publisher``.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    listeners.add(subscriber)
  }
}

/// Gives the value that it has, and each later one.
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
  private let listeners = Listeners<Output, Failure>()
  private let lock = NSRecursiveLock()
  private var current: Output

  /// One with a value.
  public init(_ value: Output) { current = value }

  /// What it has; writing gives it to everybody.
  public var value: Output {
    get { lock.withLock { current } }
    set { send(newValue) }
  }

  /// See ``Subject``.
  public func send(_ value: Output) {
    lock.withLock { current = value }
    listeners.send(value)
  }
  /// See ``Subject``.
  public func send(completion: Subscribers.Completion<Failure>) { listeners.end(completion) }
  /// See ``Publisher``.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    listeners.add(subscriber, first: { self.value })
  }
}

/// Who listens to a subject.
final class Listeners<Output, Failure: Error>: @unchecked Sendable {
  private typealias Listener = (
    value: (Output) -> Void, completion: (Subscribers.Completion<Failure>) -> Void
  )
  private let lock = NSRecursiveLock()
  private var listeners: [(number: Int, listener: Listener)] = []
  private var next = 0
  private var completion: Subscribers.Completion<Failure>?

  /// - Parameter first: what to give at once; only where it has not ended.
  func add<S: Subscriber>(_ subscriber: S, first: (() -> Output)? = nil)
  where S.Input == Output, S.Failure == Failure {
    let number = lock.withLock {
      next += 1
      if completion == nil {
        listeners.append((next, ({ _ = subscriber.receive($0) }, { subscriber.receive(completion: $0) })))
      }
      return next
    }
    subscriber.receive(subscription: Bond { [weak self] in self?.remove(number) })
    if let completion = lock.withLock({ completion }) { return subscriber.receive(completion: completion) }
    if let first { _ = subscriber.receive(first()) }
  }

  func send(_ value: Output) {
    for (_, listener) in lock.withLock({ listeners }) { listener.value(value) }
  }

  func end(_ completion: Subscribers.Completion<Failure>) {
    let all = lock.withLock {
      defer { listeners = [] }
      if self.completion == nil { self.completion = completion }
      return listeners
    }
    for (_, listener) in all { listener.completion(completion) }
  }

  private func remove(_ number: Int) {
    lock.withLock { listeners.removeAll { $0.number == number } }
  }
}

/// A subscription that runs this at its cancellation.
struct Bond: Subscription {
  let end: () -> Void

  func request(_ demand: Subscribers.Demand) {}
  func cancel() { end() }
}
