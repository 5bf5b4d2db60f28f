internal import SecretMemory
package import WhorlClient

/// Keeps rights, each with a secret, in the user's keychain: as generic passwords of a group of the program's own, which
/// `SecItem…` calls find only where they name it.
public final class LARightStore: NSObject, Sendable {
  private static let service = "LARightStore"
  private let chosen: (any BlockingTransport)?

  private init(chosen: (any BlockingTransport)?) { self.chosen = chosen }

  /// The store of this program and user.
  public static let shared = LARightStore(chosen: nil)

  /// One of another enclave than the process's, for tests.
  package init(transport: any BlockingTransport) { chosen = transport }

  private var transport: any BlockingTransport { chosen ?? WhorlEnclave.transport }

  /// Finds a right; it is not authorized yet.
  /// - Throws: `errSecItemNotFound` in NSOSStatusErrorDomain where there is none.
  public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
    try await onThread { [transport] () throws(WhorlError) in
      LAPersistedRight(try Self.item(identifier, transport), transport: transport)
    }
  }

  /// Keeps a right, without a secret.
  /// - Throws: as ``saveRight(_:identifier:secret:)``.
  public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
    try await saveRight(right, identifier: identifier, secret: Data())
  }

  /// Keeps a right and a secret, which comes out only for what the right's requirement asks for.
  /// - Parameter secret: at most 1 MiB.
  /// - Throws: `errSecDuplicateItem` in NSOSStatusErrorDomain where there is a right of that identifier;
  ///   `errSecDataTooLarge`.
  public func saveRight(
    _ right: LARight, identifier: String, secret: Data
  ) async throws -> LAPersistedRight {
    let control = right.requirement.control
    return try await onThread { [transport] () throws(WhorlError) in
      let bytes: SecretBytes
      do throws(SecretMemoryError) { bytes = try SecretBytes(copying: secret.bytes) } catch {
        throw WhorlError(.secretMemory, "There is no guarded memory for the secret: \(error)")
      }
      try transport.add(
        Self.attributes(identifier), accessControl: control, context: nil, secret: bytes)
      return LAPersistedRight(try Self.item(identifier, transport), transport: transport)
    }
  }

  /// Removes a right and its secret.
  /// - Throws: `errSecItemNotFound` in NSOSStatusErrorDomain where it was removed already.
  public func removeRight(_ right: LAPersistedRight) async throws {
    try await removeRight(forIdentifier: right.identifier)
  }

  /// Removes a right and its secret.
  /// - Throws: `errSecItemNotFound` in NSOSStatusErrorDomain where there is none.
  public func removeRight(forIdentifier identifier: String) async throws {
    try await onThread { [transport] () throws(WhorlError) in
      guard try transport.delete(matching: Self.attributes(identifier), all: false) > 0 else {
        throw Self.notFound(identifier)
      }
    }
  }

  /// Removes all rights of this program.
  public func removeAllRights() async throws {
    try await onThread { [transport] () throws(WhorlError) in
      do throws(WhorlError) {
        _ = try transport.delete(matching: Self.attributes(nil), all: true)
      } catch  where error.code == .itemNotFound {
        // There were none.
      }
    }
  }

  private static func attributes(_ identifier: String?) -> WhorlAttributes {
    var attributes = WhorlAttributes(itemClass: "generic-password", service: service, account: identifier)
    attributes.accessGroup = AccessGroup.own + "." + service
    return attributes
  }

  private static func item(
    _ identifier: String, _ transport: any BlockingTransport
  ) throws(WhorlError) -> WhorlItem {
    let found = try transport.items(
      matching: attributes(identifier), limit: 1, includingInvalidated: false, after: nil)
    guard let item = found.first else { throw notFound(identifier) }
    return item
  }

  private static func notFound(_ identifier: String) -> WhorlError {
    WhorlError(.itemNotFound, "There is no right \"\(identifier)\".")
  }
}
