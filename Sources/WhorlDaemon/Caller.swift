internal import Bus
internal import GLibLoop
internal import Keychain

/// Who makes a call, as the bus says.
struct Caller: Sendable, Hashable {
  /// The connection's unique name.
  let connection: String
  /// The uid of its process.
  let user: UserID

  /// Has the bus say the uid of a call's sender, which it is asked once.
  /// - Throws: `org.whorl.Error.Denied` where the bus cannot tell, for example since the caller is gone.
  @GLibActor
  init(of call: BusCall, on bus: BusConnection) async throws(BusMethodError) {
    do {
      connection = call.sender
      user = UserID(try await bus.user(of: call.sender))
    } catch {
      throw BusMethodError(name: "org.whorl.Error.Denied", message: "The bus does not say who is calling.")
    }
  }

  /// As ``init(of:on:)`` for a call of `net.reactivated.Fprint`, which has errors of its own.
  /// - Throws: `net.reactivated.Fprint.Error.PermissionDenied`.
  @GLibActor
  init(ofFprint call: BusCall, on bus: BusConnection) async throws(BusMethodError) {
    do {
      try await self.init(of: call, on: bus)
    } catch {
      throw .fprint(.permissionDenied, error.message)
    }
  }
}
