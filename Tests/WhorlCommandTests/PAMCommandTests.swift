import Foundation
import GLibLoop
import TestKit
import Testing

@testable import WhorlCommand

/// `whorl pam` over folders of the tests' own.
@Suite(.timeLimit(.minutes(2))) struct PAMCommandTests {
  init() { GLibLoop.startThread() }

  private static let sudo = "#%PAM-1.0\nsession required pam_limits.so\n@include common-auth\n"
  private static let commonAuth = """
    # here are the per-package modules; pam-auth-update writes them
    auth [success=1 default=ignore] pam_unix.so nullok
    auth requisite pam_deny.so
    auth required pam_permit.so

    """
  private static let line = "auth  sufficient  pam_whorl.so  always-prompt  # whorl\n"

  private static func machine(_ files: [String: String] = [:]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for name in ["etc", "etc/pam.d", "usr", "usr/lib", "usr/lib/pam.d"] { try folder.makeFolder(name, mode: 0o755) }
    for (name, text) in ["sudo": sudo, "common-auth": commonAuth].merging(files, uniquingKeysWith: { $1 }) {
      try folder.write(text, to: name.contains("/") ? name : "etc/pam.d/\(name)")
    }
    return folder
  }

  private static func text(_ folder: TemporaryFolder, _ service: String) throws -> String {
    try String(contentsOfFile: folder("etc/pam.d/\(service)"), encoding: .utf8)
  }

  @GLibActor
  private static func root(_ folder: TemporaryFolder) -> Fixture {
    var fixture = Fixture()
    fixture.surroundings.effectiveUser = 0
    fixture.surroundings.pamRoot = folder.path
    return fixture
  }

  @Test @GLibActor func `enable puts one line in, once, and disable takes it out again`() async throws {
    let folder = try Self.machine()
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "enable", "sudo") == .ok)
    let wired = "#%PAM-1.0\nsession required pam_limits.so\n\(Self.line)@include common-auth\n"
    #expect(try Self.text(folder, "sudo") == wired)
    #expect(fixture.console.printed == ["\"sudo\" takes a finger from now on: line 3 of \(folder("etc/pam.d/sudo"))."])
    let backup = folder("var/lib/whorl/pam/sudo.whorl-backup")
    #expect(try String(contentsOfFile: backup, encoding: .utf8) == Self.sudo)

    #expect(await fixture.run("pam", "enable", "sudo") == .ok)
    #expect(try Self.text(folder, "sudo") == wired)
    #expect(fixture.console.told.last?.contains("asks for a finger already") == true)

    #expect(await fixture.run("pam", "disable", "sudo") == .ok)
    #expect(try Self.text(folder, "sudo") == Self.sudo)
    #expect(await fixture.run("pam", "disable", "sudo") == .ok)
    #expect(fixture.console.told.last == "\"sudo\" does not ask for a finger. Nothing was changed.")
  }

  @Test @GLibActor func `a dry run shows the line and changes nothing`() async throws {
    let folder = try Self.machine()
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "enable", "sudo", "--dry-run") == .ok)
    let path = folder("etc/pam.d/sudo")
    #expect(
      fixture.console.printed == [
        "--- \(path)", "+++ \(path)", "@@ -1,3 +1,4 @@", " #%PAM-1.0", " session required pam_limits.so",
        "+\(Self.line.dropLast())", " @include common-auth",
      ])
    #expect(try Self.text(folder, "sudo") == Self.sudo)
    #expect(!FileManager.default.fileExists(atPath: folder("var")))
    #expect(await fixture.run("pam", "enable", "sudo") == .ok)
    #expect(await fixture.run("pam", "disable", "-n", "sudo") == .ok)
    #expect(fixture.console.printed.suffix(2) == ["-\(Self.line.dropLast())", " @include common-auth"])
    #expect(try Self.text(folder, "sudo").contains("pam_whorl.so"))
  }

  @Test @GLibActor func `what somebody wrote after enable stays, unless the copy is asked for`() async throws {
    let folder = try Self.machine()
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "disable", "sudo", "--restore") == .notFound)
    #expect(await fixture.run("pam", "enable", "sudo") == .ok)
    try folder.write(try Self.text(folder, "sudo") + "# mine\n", to: "etc/pam.d/sudo")
    #expect(await fixture.run("pam", "disable", "sudo") == .ok)
    #expect(try Self.text(folder, "sudo") == Self.sudo + "# mine\n")
    #expect(await fixture.run("pam", "disable", "sudo", "--restore") == .ok)
    #expect(try Self.text(folder, "sudo") == Self.sudo)
  }

  @Test @GLibActor func `a service of the distribution's is copied, and the copy goes again`() async throws {
    let folder = try Self.machine(["usr/lib/pam.d/polkit-1": "@include common-auth\n"])
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "enable", "polkit-1") == .ok)
    #expect(
      try Self.text(folder, "polkit-1") == "auth  sufficient  pam_whorl.so  # whorl\n@include common-auth\n")
    #expect(await fixture.run("pam", "disable", "polkit-1") == .ok)
    #expect(!FileManager.default.fileExists(atPath: folder("etc/pam.d/polkit-1")))
    #expect(FileManager.default.fileExists(atPath: folder("usr/lib/pam.d/polkit-1")))
  }

  @Test @GLibActor func `only root changes the machine's own files`() async throws {
    let folder = try Self.machine()
    var fixture = Fixture()
    fixture.surroundings.pamRoot = folder.path
    for deed in ["enable", "disable"] {
      #expect(await fixture.run("pam", deed, "sudo") == .notAllowed)
      #expect(fixture.console.complaints.last == "PAM's files are root's: sudo whorl pam \(deed) sudo")
    }
    #expect(await fixture.run("pam", "enable", "sudo", "-n") == .ok)
    #expect(await fixture.run("pam", "check") == .ok)
  }

  @Test(arguments: [
    ("nothing", "no PAM service is called \"nothing\"", ExitCode.notFound),
    ("common-auth", "sudo pam-auth-update --enable whorl", .failed),
    ("open", "lets in anybody", .failed), ("two", "pam_oath.so", .failed), ("link", "is a link to", .failed),
    ("system-auth", "authselect's", .failed), ("login", "security.pam.services.login", .failed),
    ("mine", "asks for a finger already: line 1", .ok), ("passwd", "no auth lines of its own", .failed),
    ("runuser", "asks for no password", .failed),
  ])
  @GLibActor func `enable says why it leaves a file alone`(service: String, words: String, code: ExitCode) async throws
  {
    let folder = try Self.machine([
      "open": "auth required pam_shells.so\nauth sufficient pam_unix.so\n",
      "two": "auth include both\n", "both": "auth required pam_unix.so\nauth required pam_oath.so\n",
      "mine": "auth sufficient pam_whorl.so\nauth required pam_unix.so\n", "passwd": "password required pam_unix.so\n",
      "other": "@include common-auth\n", "runuser": "auth sufficient pam_rootok.so\n",
    ])
    for (name, target) in [
      ("link", "sudo"), ("system-auth", "/etc/authselect/system-auth"), ("login", "/etc/static/pam.d/login"),
    ] { #expect(symlink(target, folder("etc/pam.d/\(name)")) == 0) }
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "enable", service) == code)
    #expect((fixture.console.complaints + fixture.console.told).joined().contains(words))
    #expect(fixture.console.printed.isEmpty)
    #expect(try Self.text(folder, "sudo") == Self.sudo)
    #expect(!FileManager.default.fileExists(atPath: folder("var")))
  }

  @Test @GLibActor func `enable needs the module`() async throws {
    let folder = try Self.machine()
    for name in ["lib", "lib/security"] { try folder.makeFolder(name, mode: 0o755) }
    for name in ["pam_unix.so", "pam_deny.so", "pam_permit.so"] { try folder.write("", to: "lib/security/\(name)") }
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "enable", "sudo") == .failed)
    #expect(fixture.complaint.hasPrefix("pam_whorl.so is not installed"))
    #expect(try Self.text(folder, "sudo") == Self.sudo)
  }

  @Test @GLibActor func `a finger that comes through an include is not taken out of the service`() async throws {
    let folder = try Self.machine(["common-auth": "auth sufficient pam_whorl.so\n" + Self.commonAuth])
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "disable", "sudo") == .failed)
    #expect(fixture.complaint.hasSuffix("sudo pam-auth-update --disable whorl"))
  }

  @Test @GLibActor func `check shows who is let in by what, and fails where something is wrong`() async throws {
    let folder = try Self.machine([
      "su": "auth sufficient pam_rootok.so\nauth sufficient pam_whorl.so\n@include common-auth\n",
      "greeter": "auth required pam_permit.so\n",
    ])
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "check") == .ok)
    #expect(
      fixture.console.printed == [
        "service\tmatch\tno match\tno reader\tright password\twrong password", "greeter\t-\t-\t-\t-\tgranted",
        "su\tgranted\tdepends\tdepends\tgranted\tdepends",
        "\tmay let in by itself: pam_rootok.so (\(folder("etc/pam.d/su")), line 1)",
        "sudo\t-\t-\t-\tgranted\tdenied",
      ])
    try folder.write("auth required pam_shells.so\nauth sufficient pam_whorl.so\n", to: "etc/pam.d/lock")
    let again = Self.root(folder)
    #expect(await again.run("pam", "check", "lock") == .failed)
    #expect(
      again.console.printed.dropFirst() == [
        "lock\tgranted\tgranted\tgranted\t-\tgranted",
        "\tWRONG: lets in anybody, without a match or the right password; end its auth lines with: auth required pam_deny.so",
      ])
    #expect(again.complaint == "wrong with lock; what is wrong stands below each")
    #expect(await again.run("pam", "check", "nothing") == .notFound)
  }

  @Test @GLibActor func `status and check are there as JSON`() async throws {
    let folder = try Self.machine()
    let fixture = Self.root(folder)
    #expect(await fixture.run("pam", "enable", "sudo") == .ok)
    let status = Self.root(folder)
    #expect(await status.run("pam", "status", "--json") == .ok)
    #expect(
      status.console.printed == [
        "[",
        #"{"service":"sudo","finger":true,"file":"\#(folder("etc/pam.d/sudo"))","line":3,"byWhorl":true,"faults":[]}"#,
        "]",
      ])
    let check = Self.root(folder)
    #expect(await check.run("pam", "check", "--json", "sudo") == .ok)
    #expect(
      check.console.printed == [
        "[",
        #"{"service":"sudo","finger":true,"password":true,"match":"granted","noMatch":"denied","unavailable":"denied","#
          + #""rightPassword":"granted","wrongPassword":"denied","alsoLetsIn":[],"faults":[],"details":[]}"#, "]",
      ])
    let plain = Self.root(folder)
    #expect(await plain.run("pam", "status") == .ok)
    #expect(plain.console.printed == ["sudo\tfinger\tline 3 of \(folder("etc/pam.d/sudo")), by whorl pam enable"])
    #expect(plain.console.told.count == 1)
  }

  @Test func `the words are understood, and wrong ones named`() throws {
    func parse(_ words: String...) throws -> Invocation { try InvocationParser.parse(words) }
    #expect(try parse("pam", "enable", "sudo") == .pam(PAMInvocation(deed: .enable(service: "sudo", isDry: false))))
    #expect(
      try parse("pam", "disable", "--restore", "sudo", "-n")
        == .pam(PAMInvocation(deed: .disable(service: "sudo", isDry: true, restores: true))))
    #expect(
      try parse("pam", "check", "--root", "/mnt", "su", "sudo", "--json")
        == .json(.pam(PAMInvocation(deed: .check(services: ["su", "sudo"]), root: "/mnt"))))
    #expect(try parse("pam", "status", "--help") == .help(of: .pam))
    for words in [
      ["pam"], ["pam", "frob"], ["pam", "enable"], ["pam", "enable", "a", "b"], ["pam", "enable", "a/b"],
      ["pam", "enable", ".a"], ["pam", "enable", "sudo", "--json"], ["pam", "enable", "sudo", "--force"],
      ["pam", "status", "sudo"], ["pam", "check", "-n"], ["pam", "check", "--root", "mnt"], ["pam", "check", "--root"],
      ["pam", "check", ""], ["pam", "enable", "sudo", "--restore"],
    ] { #expect(throws: CommandFailure.self) { try InvocationParser.parse(words) } }
  }
}
