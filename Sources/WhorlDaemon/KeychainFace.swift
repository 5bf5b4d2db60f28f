internal import Bus
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain
internal import SecretMemory

/// `org.whorl.Keychain1`: the keychain of the uid that the bus names, through the enclave.
@GLibActor
final class KeychainFace: BusHandler {
  private let bus: BusConnection
  private let enclave: Enclave
  private let clients: ClientTasks

  init(bus: BusConnection, enclave: Enclave, clients: ClientTasks) {
    self.bus = bus
    self.enclave = enclave
    self.clients = clients
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    let caller = try await Caller(of: call, on: bus)
    do {
      return try await clients.run(for: call.sender) { try await self.answer(call, caller) }
    } catch let error as EnclaveError {
      throw BusMethodError(name: error.busName, message: error.message)
    } catch let error as KeychainError {
      let wrapped = EnclaveError.keychain(error)
      throw BusMethodError(name: wrapped.busName, message: wrapped.message)
    } catch is CancellationError {
      throw BusMethodError.whorl("AppCancel", "The program that asked is gone.")
    }
  }

  private func answer(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    let arguments = call.arguments
    let owner = ContextOwner(connection: caller.connection, user: caller.user)
    switch (call.method, arguments.count) {
    case ("Add", 3):
      let attributes = try ItemCoding.attributes(arguments[0])
      var options = try StrictOptions(arguments[1], what: "option")
      let accessControl = try ItemCoding.accessControl(&options)
      try options.finish()
      let secret = try AuthenticationFace.secret(call, arguments[2], limit: KeychainLimits.secretBytes)
      try await enclave.add(user: caller.user, attributes: attributes, accessControl: accessControl, secret: secret)
      return BusAnswer()

    case ("CopyMatching", 2):
      let query = try ItemCoding.query(arguments[0], what: "query key")
      var options = try StrictOptions(arguments[1], what: "option")
      let limit = try options.number("limit") ?? 0
      let invalidated = try options.flag("invalidated") ?? false
      try options.finish()
      let items = try await enclave.copyMatching(
        user: caller.user, query: query, limit: Int(limit), includeInvalidated: invalidated)
      return BusAnswer([.array(element: "a{sv}", items.map(ItemCoding.summary))])

    case ("CopySecret", 3):
      let context = try context(arguments[0])
      let query = try ItemCoding.query(arguments[1], what: "query key")
      let request = try VerificationRequest(arguments[2])
      let signals = ProgressSignals(bus: bus, receiver: caller.connection, operation: request.operation)
      let file: Int32
      do {
        let secret = try await enclave.copySecret(
          context, owner: owner, query: query, options: request.options, progress: signals.handler)
        file = try Self.seal(secret)
        await signals.finish()
      } catch {
        await signals.finish()
        throw error
      }
      // The caller may have gone while the last signals went out; the descriptor is closed either way.
      return BusAnswer([.handle(0)], descriptors: [file])

    case ("Update", 5):
      let context = try context(arguments[0])
      let query = try ItemCoding.query(arguments[1], what: "query key")
      let changes = try ItemCoding.query(arguments[2], what: "attribute")
      let request = try VerificationRequest(arguments[4])
      let secret = try secretOrNone(call, arguments[3])
      let signals = ProgressSignals(bus: bus, receiver: caller.connection, operation: request.operation)
      do {
        try await enclave.update(
          context, owner: owner, query: query, changes: changes, secret: secret, options: request.options,
          progress: signals.handler)
        await signals.finish()
      } catch {
        await signals.finish()
        throw error
      }
      return BusAnswer()

    case ("Delete", 2):
      let query = try ItemCoding.query(arguments[0], what: "query key")
      var options = try StrictOptions(arguments[1], what: "option")
      let all = try options.flag("all") ?? false
      try options.finish()
      guard all || query.service != nil || query.account != nil else {
        throw BusMethodError.whorl(
          "Param", "The query names neither service nor account, so it would delete too much; add one, or \"all\".")
      }
      let count = try await enclave.delete(user: caller.user, query: query, all: all)
      return BusAnswer([.uint32(UInt32(clamping: count))])

    default:
      throw BusMethodError.whorl("Unsupported", "This version of Whorl has no method \(call.method).")
    }
  }

  private func context(_ value: BusValue) throws(BusMethodError) -> ContextID {
    guard let number = value.asUInt32 else { throw .whorl("Param", "A context is a number.") }
    return ContextID(rawValue: number)
  }

  private func secretOrNone(_ call: BusCall, _ value: BusValue) throws -> SecretBytes? {
    guard let handles = value.asArray, handles.count <= 1 else {
      throw BusMethodError.whorl("Param", "An update takes one secret or none.")
    }
    guard let handle = handles.first else { return nil }
    return try AuthenticationFace.secret(call, handle, limit: KeychainLimits.secretBytes)
  }

  private static func seal(_ secret: borrowing SecretBytes) throws(BusMethodError) -> Int32 {
    do {
      return try SecretFile.seal(secret, name: "whorl-secret")
    } catch {
      throw .whorl("Failed", "The secret cannot be handed over: \(error)")
    }
  }
}
