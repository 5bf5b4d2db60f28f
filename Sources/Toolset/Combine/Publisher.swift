/// What gives values over time, to those who ask for them.
public protocol Publisher<Output, Failure> {
  /// What it gives.
  associatedtype Output
  /// How it may fail; `Never` where it does not.
  associatedtype Failure: Error

  /// Has a subscriber receive what it gives from now on. ``subscribe(_:)`` is what callers use.
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

/// What receives a publisher's values.
public protocol Subscriber<Input, Failure> {
  /// What it receives.
  associatedtype Input
  /// How what it receives from may fail.
  associatedtype Failure: Error

  /// Told once, before everything else.
  func receive(subscription: any Subscription)
  /// Told each value.
  /// - Returns: how many more it wants.
  func receive(_ input: Input) -> Subscribers.Demand
  /// Told once, at the end.
  func receive(completion: Subscribers.Completion<Failure>)
}

/// The bond between a publisher and a subscriber.
public protocol Subscription: Cancellable {
  /// Asks for that many values more. The publishers here give all that there are: nothing is held back.
  func request(_ demand: Subscribers.Demand)
}

/// What can be ended before its time.
public protocol Cancellable {
  /// Ends it; a second time does nothing.
  func cancel()
}

/// What goes with subscribers.
public enum Subscribers {
  /// How a publisher ended.
  public enum Completion<Failure: Error> {
    /// There is no more.
    case finished
    /// It failed.
    case failure(Failure)
  }

  /// How many values are wanted.
  public struct Demand: Equatable, Sendable {
    private let limit: Int?

    private init(limit: Int?) { self.limit = limit }

    /// All that there are.
    public static let unlimited = Demand(limit: nil)
    /// None.
    public static let none = Demand(limit: 0)
    /// At most that many.
    public static func max(_ value: Int) -> Demand { Demand(limit: value) }
  }
}

extension Subscribers.Completion: Sendable where Failure: Sendable {}
extension Subscribers.Completion: Equatable where Failure: Equatable {}

extension Publisher {
  /// Has a subscriber receive what it gives from now on.
  public func subscribe<S: Subscriber>(_ subscriber: S) where S.Input == Output, S.Failure == Failure {
    receive(subscriber: subscriber)
  }

  /// Has a subject send on what it gives, until that is cancelled.
  public func subscribe<S: Subject>(_ subject: S) -> AnyCancellable where S.Output == Output, S.Failure == Failure {
    sink(receiveCompletion: subject.send(completion:), receiveValue: subject.send(_:))
  }

  /// Tells the end and every value, until what it returns is cancelled or let go.
  public func sink(
    receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void, receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable {
    let sink = Sink(value: receiveValue, completion: receiveCompletion)
    subscribe(sink)
    return AnyCancellable(sink)
  }
}

extension Publisher where Failure == Never {
  /// Tells every value, until what it returns is cancelled or let go.
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
  }

  /// Writes every value to a property, until what it returns is cancelled or let go. Keeps the object.
  public func assign<Root>(to path: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
    sink { object[keyPath: path] = $0 }
  }
}
