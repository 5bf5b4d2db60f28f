import Security
import WhorlClient

/// Stands for an LAContext.
final class SampleContext: NSObject, EnclaveContextSource {
  let localizedReason: String
  let interactionNotAllowed: Bool

  init(reason: String = "", interactionNotAllowed: Bool = false) {
    localizedReason = reason
    self.interactionNotAllowed = interactionNotAllowed
  }

  /// Nothing of what only reads queries goes there.
  var transport: any BlockingTransport { BlockingBusTransport(address: "unix:path=/nonexistent/bus") }

  func withEnclaveContext<R: ~Copyable>(
    _ body: (WhorlContext) throws(WhorlError) -> R
  ) throws(WhorlError) -> R {
    try body(WhorlContext(number: 7, daemon: ":1.7"))
  }
}

/// Stands for a SecKey.
final class SampleKey: ItemReference {}

/// Keys and values that go together, apart from the class.
typealias Pairs = [String: any Sendable]

/// The access control of those constraints.
func sampleControl(_ constraints: [WhorlConstraint] = [.userPresence]) -> SecAccessControl {
  SecAccessControl(WhorlAccessControl(protection: .whenUnlocked.thisDeviceOnly, constraints: constraints))
}

/// The pairs as a dictionary of the class.
func query(_ itemClass: CFString?, _ pairs: [String: Any] = [:]) -> CFDictionary {
  var query = pairs
  query[kSecClass] = itemClass
  return query as CFDictionary
}

func addition(_ itemClass: CFString?, _ pairs: [String: Any] = [:]) throws(ItemRequestError) -> ItemAddition {
  try ItemAddition(query(itemClass, pairs), group: "own")
}

func search(
  _ itemClass: CFString?, _ pairs: [String: Any] = [:], for operation: ItemSearch.Operation = .copyMatching
) throws(ItemRequestError) -> ItemSearch {
  try ItemSearch(query(itemClass, pairs), for: operation, group: "own")
}

func change(_ pairs: [String: Any], of itemClass: SecItemClass? = .genericPassword) throws(ItemRequestError)
  -> ItemChange
{
  try ItemChange(query(nil, pairs), of: itemClass)
}

/// What a call refuses; nil where it does not.
func refusal(_ body: () throws(ItemRequestError) -> some Any) -> ItemRequestError? {
  do throws(ItemRequestError) { _ = try body() } catch { return error }
  return nil
}

let allClasses = [
  kSecClassGenericPassword, kSecClassInternetPassword, kSecClassKey, kSecClassCertificate, kSecClassIdentity,
]
let passwordClasses = [kSecClassGenericPassword, kSecClassInternetPassword]
