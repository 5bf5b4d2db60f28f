import Foundation
import TestKit

@testable import PAMStacks

/// A tree with PAM files of its own; every module is there.
struct Machine {
  let folder: TemporaryFolder
  let places: PAMPlaces

  init(_ files: [String: String] = [:]) throws {
    folder = try TemporaryFolder()
    for name in ["etc", "etc/pam.d", "usr", "usr/lib", "usr/lib/pam.d"] { try folder.makeFolder(name, mode: 0o755) }
    places = PAMPlaces(root: folder.path)
    for (name, text) in files { try write(text, name) }
  }

  var files: PAMFiles { PAMFiles(places) }

  func write(_ text: String, _ name: String) throws {
    try folder.write(text, to: name.contains("/") ? name : "etc/pam.d/\(name)")
  }

  func text(_ service: String) throws -> String {
    try String(contentsOfFile: folder("etc/pam.d/\(service)"), encoding: .utf8)
  }

  func adding(_ service: String) throws(WiringEdit.Refusal) -> WiringEdit {
    let text = (try? Data(contentsOf: URL(fileURLWithPath: folder("etc/pam.d/\(service)")))) ?? Data()
    return try WiringEdit.adding(
      to: service, options: [], text: Array(text), at: folder("etc/pam.d/\(service)"), in: files)
  }

  /// Why no line can be put in; nil where one can.
  func refusal(_ service: String) -> WiringEdit.Refusal? {
    do throws(WiringEdit.Refusal) {
      _ = try adding(service)
      return nil
    } catch { return error }
  }

  func removing(_ service: String) throws -> WiringEdit? {
    try WiringEdit.removing(
      from: service, text: Array(text(service).utf8), at: folder("etc/pam.d/\(service)"), in: files)
  }

  func verdict(_ service: String) -> ServiceVerdict { ServiceVerdict(service: service, in: files) }
}

/// Stacks as distributions ship them.
enum Stock {
  static let commonAuth = """
    # /etc/pam.d/common-auth
    auth	[success=1 default=ignore]	pam_unix.so nullok
    # here's the fallback if no module succeeds
    auth	requisite			pam_deny.so
    auth	required			pam_permit.so
    auth	optional			pam_cap.so

    """
  static let debian = [
    "common-auth": commonAuth,
    "sudo": "#%PAM-1.0\nsession    required   pam_limits.so\n\n@include common-auth\n@include common-account\n",
    "su": "auth       sufficient pam_rootok.so\n@include common-auth\n",
    "login":
      "auth optional pam_faildelay.so  delay=3000000\nauth       requisite  pam_nologin.so\n@include common-auth\n"
      + "auth       optional   pam_group.so\n@include common-account\n",
    "common-account": "account required pam_unix.so\n", "other": "@include common-auth\n@include common-account\n",
  ]
  static let systemAuth = """
    auth        required                                     pam_env.so
    auth        required                                     pam_faildelay.so delay=2000000
    auth        [default=1 ignore=ignore success=ok]         pam_usertype.so isregular
    auth        [default=1 ignore=ignore success=ok]         pam_localuser.so
    auth        sufficient                                   pam_unix.so nullok
    auth        [default=1 ignore=ignore success=ok]         pam_usertype.so isregular
    auth        sufficient                                   pam_sss.so forward_pass
    auth        required                                     pam_deny.so

    """
  static let fedora = [
    "system-auth": systemAuth, "postlogin": "auth optional pam_umask.so\n",
    "sudo": "#%PAM-1.0\nauth       include      system-auth\naccount    include      system-auth\n",
    "sudo-i": "#%PAM-1.0\nauth       include      sudo\n",
    "login":
      "auth       substack     system-auth\nauth       include      postlogin\naccount required pam_nologin.so\n",
    "su": "auth\t\tsufficient\tpam_rootok.so\nauth\t\tsubstack\tsystem-auth\nauth\t\tinclude\t\tpostlogin\n",
  ]
  static let arch = [
    "system-auth": """
    auth       required                    pam_faillock.so      preauth
    -auth      [success=2 default=ignore]  pam_systemd_home.so
    auth       [success=1 default=bad]     pam_unix.so          try_first_pass nullok
    auth       [default=die]               pam_faillock.so      authfail
    auth       optional                    pam_permit.so
    auth       required                    pam_env.so
    auth       required                    pam_faillock.so      authsucc

    """,
    "sudo": "#%PAM-1.0\nauth\t\tinclude\t\tsystem-auth\n",
  ]
}
