/// A dictionary of objects that can hold its keys, its values or both weakly: what goes away elsewhere goes away here.
///
/// Foundation on Linux has none; this one has what keychain wrappers use. Keys are the same where `isEqual` says so, and
/// for classes that are not NSObject's where they are one object. Not safe to use from several threads at once.
public final class NSMapTable<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
  private struct Entry {
    var key: Hold<KeyType>
    var object: Hold<ObjectType>

    var isAlive: Bool { key.object != nil && object.object != nil }
  }

  private struct Hold<Object: AnyObject> {
    private let strong: Object?
    private weak var weak: Object?

    init(_ object: Object, isWeak: Bool) {
      strong = isWeak ? nil : object
      weak = object
    }

    var object: Object? { strong ?? weak }
  }

  private let hasWeakKeys: Bool
  private let hasWeakObjects: Bool
  /// By the keys' hashes.
  private var entries: [Int: [Entry]] = [:]

  private init(weakKeys: Bool, weakObjects: Bool) {
    hasWeakKeys = weakKeys
    hasWeakObjects = weakObjects
  }

  /// A table that holds keys and values.
  public class func strongToStrongObjects() -> NSMapTable<KeyType, ObjectType> {
    NSMapTable(weakKeys: false, weakObjects: false)
  }
  /// A table that holds its keys, and whose values may go away.
  public class func strongToWeakObjects() -> NSMapTable<KeyType, ObjectType> {
    NSMapTable(weakKeys: false, weakObjects: true)
  }
  /// A table that holds its values, and whose keys may go away.
  public class func weakToStrongObjects() -> NSMapTable<KeyType, ObjectType> {
    NSMapTable(weakKeys: true, weakObjects: false)
  }
  /// A table whose keys and values may go away.
  public class func weakToWeakObjects() -> NSMapTable<KeyType, ObjectType> {
    NSMapTable(weakKeys: true, weakObjects: true)
  }

  /// How many pairs there are still.
  public var count: Int { entries.values.reduce(0) { $0 + $1.count(where: \.isAlive) } }

  /// The value of a key; nil where there is none, or none any more.
  public func object(forKey key: KeyType?) -> ObjectType? {
    guard let key else { return nil }
    return entries[hash(key)]?.first { isSame($0.key.object, key) }?.object.object
  }

  /// Gives a key a value, in the place of the one that it had.
  /// - Parameter object: nil changes nothing.
  public func setObject(_ object: ObjectType?, forKey key: KeyType?) {
    guard let key, let object else { return }
    removeObject(forKey: key)
    entries[hash(key), default: []].append(
      Entry(key: Hold(key, isWeak: hasWeakKeys), object: Hold(object, isWeak: hasWeakObjects)))
  }

  /// Takes a key and its value out.
  public func removeObject(forKey key: KeyType?) {
    guard let key else { return }
    entries[hash(key)]?.removeAll { isSame($0.key.object, key) || !$0.isAlive }
  }

  /// Takes everything out.
  public func removeAllObjects() { entries = [:] }

  private func hash(_ key: KeyType) -> Int { (key as? NSObject)?.hash ?? ObjectIdentifier(key).hashValue }

  private func isSame(_ left: KeyType?, _ right: KeyType) -> Bool {
    if let left = left as? NSObject { return left.isEqual(right) }
    return left === right
  }
}
