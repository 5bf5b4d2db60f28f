internal import Bus
internal import GLibLoop
internal import Keychain

/// Who makes a call, as the bus says.
struct Caller: Sendable, Hashable {
  /// The connection's unique name.
  let connection: String
  /// The uid of its process.
  let user: UserID

  /// Asks the bus for the uid of a call's sender.
  /// - Throws: `org.whorl.Error.Denied` where the bus cannot tell, for example since the caller is gone.
  @GLibActor
  init(of call: BusCall, on bus: BusConnection) async throws(BusMethodError) {
    do {
      let credentials = try await bus.credentials(of: call.sender)
      connection = call.sender
      user = UserID(credentials.uid)
    } catch {
      throw BusMethodError(name: "org.whorl.Error.Denied", message: "The bus does not say who is calling.")
    }
  }
}
