/// What `WhorlEmbedded` and its helper, `whorl-embedded`, say to each other: both are of one build.
///
/// The helper's standard input is a pipe whose other end the program holds, and nobody writes to: its end is the end of
/// the enclave. Its standard output takes one ``Start``. From then on they speak over the enclave's own bus.
package enum EmbeddedLink {
  /// The helper's file.
  package static let helper = "whorl-embedded"
  /// The programs that have to be in one folder for an enclave.
  package static let programs = [helper, "whorld", "whorl-reader", "whorl-passcode"]
  /// The helper's argument: passcodes are asked for by the program that started it.
  package static let asksOption = "--asks"
  /// The helper's argument with which it becomes another program, that ends with it.
  package static let runOption = "--run"

  /// The helper's name on the bus.
  package static let name = "org.whorl.Embedded"
  /// The helper's object.
  package static let path = "/org/whorl/Embedded"
  /// Its interface.
  package static let interface = "org.whorl.Embedded1"

  /// Of the helper, for the process that started it alone.
  package static let interfaceXML = """
    <node>
      <interface name="\(interface)">
        <!-- Waits for the next event. One call at a time: an earlier one that still waits gets the event "none". -->
        <method name="Next">
          <arg name="kind" type="s" direction="out"/>
          <arg name="number" type="t" direction="out"/>
          <arg name="details" type="a{sv}" direction="out"/>
        </method>
        <!-- The passcode that an event "passcode" of this number wants: a sealed memfd. -->
        <method name="Answer">
          <arg name="number" type="t" direction="in"/>
          <arg name="passcode" type="h" direction="in"/>
        </method>
        <!-- The person does not want to. -->
        <method name="Decline">
          <arg name="number" type="t" direction="in"/>
        </method>
        <!-- Begins; what happens comes as events of this number, the last of which is "done" or "failed". -->
        <method name="Enroll">
          <arg name="number" type="t" direction="in"/>
          <arg name="finger" type="s" direction="in"/>
        </method>
        <!-- As Enroll: lets a finger that is enrolled open secrets. -->
        <method name="Register">
          <arg name="number" type="t" direction="in"/>
          <arg name="finger" type="s" direction="in"/>
        </method>
        <!-- As Enroll: "done" has the key "fingers", an as. -->
        <method name="Fingers">
          <arg name="number" type="t" direction="in"/>
        </method>
        <!-- As Enroll. -->
        <method name="Delete">
          <arg name="number" type="t" direction="in"/>
          <arg name="finger" type="s" direction="in"/>
        </method>
        <!-- Ends what has this number. -->
        <method name="Cancel">
          <arg name="number" type="t" direction="in"/>
        </method>
      </interface>
    </node>
    """

  /// What an event is about.
  package enum Event: String, Sendable {
    /// Nothing.
    case none
    /// A passcode is wanted; the details are those of org.whorl.Agent1.
    case passcode
    /// The reader waits for the first touch: "touches", a u, says how many it takes, where it is known.
    case ready
    /// "word", an s: a status of an enrolment, in fprintd's words.
    case scan
    /// It ended well.
    case done
    /// It failed: "code", an s, is a ``Failure``, "message" one line.
    case failed
  }

  /// What failed, for programs.
  package enum Failure: String, Sendable {
    /// Another process has the state folder.
    case folderInUse
    /// A program, or something else that an enclave needs, is missing or does not start.
    case cannotStart
    /// The argument makes no sense.
    case param
    /// There is no reader.
    case noReader
    /// The reader, or the enrolment on it, failed.
    case readerFailed
    /// There is no such finger.
    case noSuchFinger
    /// The finger is enrolled and opens no secret.
    case notRegistered
    /// It was cancelled.
    case cancelled
    /// Anything else.
    case failed
  }

  /// The helper's one line about how its start went.
  package enum Start: Sendable, Equatable {
    /// Everything is there, on the bus at this address.
    case ready(address: String)
    /// It was not to be; the text is one for people.
    case failed(Failure, String)

    /// On the wire.
    package var line: String {
      switch self {
      case .ready(let address): "ready\t\(address)\n"
      case .failed(let failure, let text): "failed\t\(failure.rawValue)\t\(text.replacing("\n", with: " "))\n"
      }
    }

    /// From the wire, without the line's end; nil for nonsense.
    package init?(_ line: String) {
      let fields = line.split(separator: Character("\t"), maxSplits: 2, omittingEmptySubsequences: false)
        .map { String($0) }
      switch (fields.first, fields.count) {
      case ("ready", 2): self = .ready(address: fields[1])
      case ("failed", 3): self = .failed(Failure(rawValue: fields[1]) ?? .failed, fields[2])
      default: return nil
      }
    }
  }
}
