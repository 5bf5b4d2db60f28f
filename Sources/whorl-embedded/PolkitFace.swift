import Bus
import GLibLoop

/// Stands in polkit's place on the enclave's bus, on which there is this one user, whose enclave it is: he may verify,
/// enrol and delete his own fingers, and nothing that is about other accounts.
@GLibActor
final class PolkitFace: BusHandler {
  nonisolated static let name = "org.freedesktop.PolicyKit1"
  nonisolated static let path = "/org/freedesktop/PolicyKit1/Authority"
  nonisolated static let interface = "org.freedesktop.PolicyKit1.Authority"
  nonisolated static let interfaceXML = """
    <node>
      <interface name="org.freedesktop.PolicyKit1.Authority">
        <method name="CheckAuthorization">
          <arg name="subject" type="(sa{sv})" direction="in"/>
          <arg name="action" type="s" direction="in"/>
          <arg name="details" type="a{ss}" direction="in"/>
          <arg name="flags" type="u" direction="in"/>
          <arg name="cancellation" type="s" direction="in"/>
          <arg name="result" type="(bba{ss})" direction="out"/>
        </method>
        <method name="CancelCheckAuthorization">
          <arg name="cancellation" type="s" direction="in"/>
        </method>
      </interface>
    </node>
    """

  private static let allowed = ["net.reactivated.fprint.device.verify", "net.reactivated.fprint.device.enroll"]

  nonisolated init() {}

  func handle(_ call: BusCall) async throws -> BusAnswer {
    guard call.method == "CheckAuthorization" else { return BusAnswer() }
    let isAllowed = call.arguments.dropFirst().first?.asString.map { Self.allowed.contains($0) } ?? false
    return BusAnswer([
      .structure([.boolean(isAllowed), .boolean(false), .dictionary(key: "s", value: "s", [])])
    ])
  }
}
