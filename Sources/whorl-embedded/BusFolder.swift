import ChildProcess
import EmbeddedLink
import Glibc

/// The folder of the enclave's bus: its configuration and its socket, for this user alone.
struct BusFolder {
  let path: String
  /// The configuration's file.
  var configuration: String { path + "/bus.conf" }
  private var socket: String { path + "/bus" }

  /// Makes it where sockets of this user's belong, else where temporary files do.
  init() throws(StartFailure) {
    let environment = ProcessEnvironment.variables
    let places = ["XDG_RUNTIME_DIR", "TMPDIR"].compactMap { environment[$0] } + ["/tmp"]
    var reason = "no place for it"
    for place in places where Self.canHoldSocket(place) {
      var template = Array((place + "/whorl-embedded.XXXXXX").utf8CString)
      // mkdtemp makes it with mode 0700.
      if mkdtemp(&template) != nil {
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        do throws(StartFailure) { try writeConfiguration() } catch {
          remove()
          throw error
        }
        return
      }
      reason = "\(place): \(String(cString: strerror(errno)))"
    }
    throw StartFailure(.cannotStart, "A folder for the enclave's bus cannot be made (\(reason)).")
  }

  /// Whether a socket's address below that folder is one that needs no escapes, and fits.
  private static func canHoldSocket(_ place: String) -> Bool {
    place.hasPrefix("/") && place.utf8.count <= 70
      && place.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_/.".utf8.contains(byte)
      }
  }

  /// Without a rule about users, dbus-daemon lets its own connect, and no other.
  private func writeConfiguration() throws(StartFailure) {
    let names = [EmbeddedLink.name, PolkitFace.name, "org.whorl", "net.reactivated.Fprint"]
    let text = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <listen>unix:path=\(socket)</listen>
        <auth>EXTERNAL</auth>
        <policy context="default">
          <deny own="*"/>
          \(names.map { "<allow own=\"\($0)\"/>" }.joined(separator: "\n    "))
          <allow send_destination="*"/>
          <allow receive_sender="*"/>
        </policy>
        <limit name="max_replies_per_connection">4096</limit>
      </busconfig>

      """
    let file = open(configuration, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0, write(file, text, text.utf8.count) == text.utf8.count else {
      let code = errno
      if file >= 0 { close(file) }
      throw StartFailure(
        .cannotStart, "\(configuration) cannot be written (\(String(cString: strerror(code)))); is the disk full?")
    }
    close(file)
  }

  /// Takes it away again.
  func remove() {
    for file in [configuration, socket] { unlink(file) }
    rmdir(path)
  }
}

/// Why the enclave did not come about.
struct StartFailure: Error {
  let failure: EmbeddedLink.Failure
  /// One line for people.
  let text: String

  init(_ failure: EmbeddedLink.Failure, _ text: String) {
    self.failure = failure
    self.text = text
  }
}
