internal import Foundation

/// An object whose changes can be heard of.
public protocol ObservableObject: AnyObject {
  /// What tells of them.
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never

  /// Tells before each change.
  var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
  /// Tells before each change of a ``Published`` property. An object without one has a publisher of its own at each call.
  public var objectWillChange: ObservableObjectPublisher {
    var boxes: [any PublishedBox] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let one = mirror {
      boxes += one.children.compactMap { ($0.value as? any PublishedProperty)?.box }
      mirror = one.superclassMirror
    }
    let publisher = boxes.lazy.compactMap(\.owner).first ?? ObservableObjectPublisher()
    for box in boxes { box.owner = publisher }
    return publisher
  }
}

/// Tells that an object is about to change.
public final class ObservableObjectPublisher: Publisher, @unchecked Sendable {
  /// Nothing but that.
  public typealias Output = Void
  /// It does not fail.
  public typealias Failure = Never

  private let listeners = Listeners<Void, Never>()

  /// One that nobody listens to yet.
  public init() {}

  /// Tells everybody.
  public func send() { listeners.send(()) }

  /// See ``Publisher``.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
    listeners.add(subscriber)
  }
}

/// A property of a class, whose changes can be heard of: `$name` gives the value that it has and each later one, before it is
/// in place.
@propertyWrapper
public struct Published<Value> {
  private let storage: Storage

  /// A property with this value.
  public init(wrappedValue: Value) { storage = Storage(wrappedValue) }
  /// A property with this value.
  public init(initialValue: Value) { self.init(wrappedValue: initialValue) }

  /// The value.
  public var wrappedValue: Value {
    get { storage.value }
    nonmutating set { storage.value = newValue }
  }

  /// Gives the value that it has and each later one.
  public var projectedValue: Publisher { Publisher(storage: storage) }

  /// Gives a property's values.
  public struct Publisher: Combine.Publisher {
    /// The property's.
    public typealias Output = Value
    /// It does not fail.
    public typealias Failure = Never
    fileprivate let storage: Storage

    /// See ``Combine/Publisher``.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
      storage.listeners.add(subscriber, first: { storage.value })
    }
  }

  fileprivate final class Storage: PublishedBox, @unchecked Sendable {
    let listeners = Listeners<Value, Never>()
    private let lock = NSRecursiveLock()
    private var current: Value
    private var teller: ObservableObjectPublisher?

    init(_ value: Value) { current = value }

    var owner: ObservableObjectPublisher? {
      get { lock.withLock { teller } }
      set { lock.withLock { teller = newValue } }
    }

    var value: Value {
      get { lock.withLock { current } }
      set {
        owner?.send()
        listeners.send(newValue)
        lock.withLock { current = newValue }
      }
    }
  }
}

extension Published: PublishedProperty {
  fileprivate var box: any PublishedBox { storage }
}

extension Published: @unchecked Sendable where Value: Sendable {}

private protocol PublishedProperty {
  var box: any PublishedBox { get }
}

private protocol PublishedBox: AnyObject {
  var owner: ObservableObjectPublisher? { get set }
}
