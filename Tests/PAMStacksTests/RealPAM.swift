import Foundation
import TestKit

@testable import PAMStacks

/// Folders of PAM services, asked through the real libpam by pamtester, and through ours.
///
/// They are mounted over the machine's own in a mount namespace, which needs root: pam_wrapper would copy them all for
/// every question.
struct RealPAM {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder(open: true)
    for name in ["etc", "usr", "faillock"] { try folder.makeFolder(name, mode: 0o755) }
    try write("auth required pam_deny.so\n", "other")
  }

  func write(_ text: String, _ service: String, in place: String = "etc") throws {
    try folder.write(text, to: "\(place)/\(service)")
  }

  /// The same folders for ours, read as this machine's libpam does.
  var files: PAMFiles {
    var places = PAMPlaces(root: "/")
    places.folders = [folder("etc"), folder("usr")]
    return PAMFiles(places)
  }

  /// Which of the services let root in. A program that dies lets nobody in.
  func grants(_ services: [String]) async throws -> [String: Bool] {
    let list = try folder.write(services.joined(separator: "\n") + "\n", to: "services")
    let script = """
      mount --bind "$1" /etc/pam.d && mkdir -p /usr/lib/pam.d && mount --bind "$2" /usr/lib/pam.d || exit 1
      while read -r service; do
        if pamtester "$service" root authenticate </dev/null >/dev/null 2>&1
        then echo "$service yes"; else echo "$service no"; fi
      done < "$3"
      """
    let ended = try await RunningProgram.run(
      "/usr/bin/unshare", ["-m", "--", "/bin/sh", "-c", script, "sh", folder("etc"), folder("usr"), list],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"], seconds: 240)
    guard ended.status == 0 else { throw RealPAMError(description: "pamtester: \(ended.errorText)") }
    var grants: [String: Bool] = [:]
    for line in ended.text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2 { grants[String(words[0])] = words[1] == "yes" }
    }
    return grants
  }
}

/// What is missing around a test, in one line.
struct RealPAMError: Error, CustomStringConvertible { let description: String }
