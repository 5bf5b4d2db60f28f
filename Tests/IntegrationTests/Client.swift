import Bus
import GLibLoop
import Glibc
import SecretMemory
import TestKit

/// A program that talks to whorld by itself, for what the command does not do without a terminal.
@GLibActor
final class Client {
  let bus: BusConnection

  init(_ world: World) async throws {
    bus = try await BusConnection.open(address: world.bus.address)
  }

  /// Calls a method of one of Whorl's interfaces, the last part of whose name is given.
  func call(
    _ interface: String, _ method: String, _ arguments: [BusValue] = [], descriptors: [Int32] = []
  ) async throws -> BusReply {
    try await bus.call(
      destination: "org.whorl", path: "/org/whorl", interface: "org.whorl.\(interface)", method: method,
      arguments: arguments, descriptors: descriptors)
  }

  /// The name of the error that a call ends with; nil where it ends well.
  func error(
    _ interface: String, _ method: String, _ arguments: [BusValue] = [], descriptors: [Int32] = []
  ) async throws -> String? {
    do {
      _ = try await call(interface, method, arguments, descriptors: descriptors)
      return nil
    } catch let error as BusError {
      guard let name = error.remoteName else { throw error }
      return name
    }
  }

  func newContext(_ options: [String: BusValue] = [:]) async throws -> BusValue {
    try await call("Authentication1", "CreateContext", [.options(options)]).arguments[0]
  }

  func givePasscode(_ text: String) async throws { _ = try await give(text, by: "ProvidePasscode") }

  /// Gives a secret to a new context by one of the calls that take one, and gives that context.
  func give(_ text: String, by method: String) async throws -> BusValue {
    let context = try await newContext()
    let file = try Self.sealed(text)
    defer { close(file) }
    _ = try await call("Authentication1", method, [context, .handle(0)], descriptors: [file])
    return context
  }

  /// A sealed memory file with this text, which the caller closes.
  nonisolated static func sealed(_ text: String) throws -> Int32 {
    var secret = try SecretBytes(count: text.utf8.count)
    secret.withUnsafeMutableBytes { $0.copyBytes(from: Array(text.utf8)) }
    return try SecretFile.seal(secret, name: "test")
  }
}
