internal import Bus
internal import GLibLoop

/// Asks polkit (its D-Bus API, org.freedesktop.PolicyKit1.Authority) whether a caller may do something.
///
/// Everything but a plain yes is no: polkit denying, absent, slow, failing or answering nonsense.
@GLibActor
struct PolkitAuthority {
  /// The seconds that a person has to answer polkit's agent.
  static let patience = 120

  let bus: BusConnection

  /// Whether the connection `sender` is authorised for `action`; asks the person where polkit's rules say so.
  func allows(_ sender: String, _ action: String) async -> Bool {
    let subject = BusValue.structure([.string("system-bus-name"), .options(["name": .string(sender)])])
    let allowUserInteraction: UInt32 = 1
    do {
      let reply = try await bus.call(
        destination: "org.freedesktop.PolicyKit1", path: "/org/freedesktop/PolicyKit1/Authority",
        interface: "org.freedesktop.PolicyKit1.Authority", method: "CheckAuthorization",
        arguments: [
          subject, .string(action), .dictionary(key: "s", value: "s", []), .uint32(allowUserInteraction), .string(""),
        ],
        expecting: "(bba{ss})", timeoutMilliseconds: Self.patience * 1000)
      return reply.arguments.first?.asStructure?.first?.asBool == true
    } catch {
      if error != .cancelled { Log.warning("polkit was asked for \(action) and gave no answer (\(error)); refusing") }
      return false
    }
  }
}
