/// Any publisher of these values.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
  private let add: (Relay<Output, Failure>) -> Void

  /// One that gives what another gives.
  public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {
    add = { publisher.subscribe($0) }
  }

  /// See ``Publisher``.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    add(Relay(subscriber) { subscriber.receive($0) })
  }
}

/// Gives one value, and ends.
public struct Just<Output>: Publisher {
  /// It does not fail.
  public typealias Failure = Never
  private let output: Output

  /// One that gives this.
  public init(_ output: Output) { self.output = output }

  /// See ``Publisher``.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    subscriber.receive(subscription: Bond {})
    _ = subscriber.receive(output)
    subscriber.receive(completion: .finished)
  }
}

/// A subscriber that hands on to another.
struct Relay<Input, Failure: Error>: Subscriber {
  private let value: (Input) -> Subscribers.Demand
  private let completion: (Subscribers.Completion<Failure>) -> Void
  private let subscription: (any Subscription) -> Void

  init<S: Subscriber>(_ next: S, _ value: @escaping (Input) -> Subscribers.Demand) where S.Failure == Failure {
    self.value = value
    completion = { next.receive(completion: $0) }
    subscription = { next.receive(subscription: $0) }
  }

  func receive(subscription: any Subscription) { self.subscription(subscription) }
  func receive(_ input: Input) -> Subscribers.Demand { value(input) }
  func receive(completion: Subscribers.Completion<Failure>) { self.completion(completion) }
}

/// A publisher that changes what another gives.
public struct Through<Upstream: Publisher, Output>: Publisher {
  /// How the other may fail.
  public typealias Failure = Upstream.Failure
  let upstream: Upstream
  /// Made anew for each subscriber: what becomes of a value; nil for nothing.
  let change: () -> (Upstream.Output) -> Output?

  /// See ``Publisher``.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let change = change()
    upstream.subscribe(
      Relay<Upstream.Output, Failure>(subscriber) { change($0).map { subscriber.receive($0) } ?? .none })
  }
}

extension Publisher {
  /// The same, with nothing said of how it is made.
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }

  /// What becomes of each value.
  public func map<T>(_ transform: @escaping (Output) -> T) -> Through<Self, T> {
    Through(upstream: self) { transform }
  }

  /// What becomes of each value, without those of which nothing becomes.
  public func compactMap<T>(_ transform: @escaping (Output) -> T?) -> Through<Self, T> {
    Through(upstream: self) { transform }
  }

  /// The values that fit.
  public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Through<Self, Output> {
    Through(upstream: self) { { isIncluded($0) ? $0 : nil } }
  }

  /// All but the first ones.
  public func dropFirst(_ count: Int = 1) -> Through<Self, Output> {
    Through(upstream: self) {
      var left = count
      return {
        left -= 1
        return left < 0 ? $0 : nil
      }
    }
  }
}

extension Publisher where Output: Equatable {
  /// The values that are not the same as the one before.
  public func removeDuplicates() -> Through<Self, Output> {
    Through(upstream: self) {
      var last: Output?
      return { value in
        defer { last = value }
        return value == last ? nil : value
      }
    }
  }
}
