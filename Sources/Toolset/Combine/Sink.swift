internal import Foundation

/// A subscriber made of two functions.
final class Sink<Input, Failure: Error>: Subscriber, Cancellable {
  private let lock = NSRecursiveLock()
  private var subscription: (any Subscription)?
  private var value: ((Input) -> Void)?
  private var completion: ((Subscribers.Completion<Failure>) -> Void)?

  init(value: @escaping (Input) -> Void, completion: @escaping (Subscribers.Completion<Failure>) -> Void) {
    self.value = value
    self.completion = completion
  }

  func receive(subscription: any Subscription) {
    lock.withLock { self.subscription = subscription }
    subscription.request(.unlimited)
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    lock.withLock { value }?(input)
    return .unlimited
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    lock.withLock { end().completion }?(completion)
  }

  func cancel() {
    lock.withLock { end().subscription }?.cancel()
  }

  /// Lets everything go, and says what there was.
  private func end() -> (subscription: (any Subscription)?, completion: ((Subscribers.Completion<Failure>) -> Void)?) {
    defer { (subscription, value, completion) = (nil, nil, nil) }
    return (subscription, completion)
  }
}

/// Cancels when it is let go.
public final class AnyCancellable: Cancellable, Hashable {
  private let lock = NSLock()
  private var action: (() -> Void)?

  /// One that runs this, once.
  public init(_ cancel: @escaping () -> Void) { action = cancel }

  /// One that cancels this, once.
  public convenience init(_ canceller: some Cancellable) { self.init(canceller.cancel) }

  deinit { cancel() }

  /// Cancels; a second time does nothing.
  public func cancel() {
    lock.withLock {
      defer { action = nil }
      return action
    }?()
  }

  /// Keeps it in a collection.
  public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
    collection.append(self)
  }

  /// Keeps it in a set.
  public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

  /// Whether both are the same one.
  public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }

  /// By which one it is.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
