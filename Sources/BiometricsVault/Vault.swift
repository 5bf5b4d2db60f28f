internal import Foundation

#if os(Linux)
  internal import WhorlClient
#endif

/// What all vaults share.
enum Vault {
  /// Why the user is asked.
  static let reason = "open the vault"

  static func encode(_ credentials: some Encodable) throws -> Data { try JSONEncoder().encode(credentials) }

  static func decode<Credentials: Decodable>(_ type: Credentials.Type, _ data: Data) throws -> Credentials {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      throw VaultError.retrievalFailure
    }
  }

  /// Runs `body`, which may wait for a person, on a thread of its own; on this one where there is none to be had.
  static func elsewhere<R: Sendable, E: Error>(_ body: @escaping @Sendable () throws(E) -> R) async throws(E) -> R {
    let result: Result<R, E> = await withCheckedContinuation { continuation in
      #if os(Linux)
        let isStarted = LibraryThread.start { continuation.resume(returning: Result(catching: body)) }
        if !isStarted { continuation.resume(returning: Result(catching: body)) }
      #else
        Thread.detachNewThread { continuation.resume(returning: Result(catching: body)) }
      #endif
    }
    return try result.get()
  }
}
