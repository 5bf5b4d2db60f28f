import TestKit
import Testing

@testable import PAMStacks

@Suite struct WiringEditTests {
  private let plain = "auth  sufficient  pam_whorl.so  # whorl"

  @Test(arguments: [
    (Stock.debian, "sudo", 4), (Stock.debian, "su", 2), (Stock.debian, "login", 3), (Stock.fedora, "sudo", 2),
    (Stock.fedora, "login", 1), (Stock.fedora, "su", 2), (["sudo": "auth required pam_unix.so"], "sudo", 1),
    (
      [
        "sudo": "account required pam_permit.so\nauth  sufficient pam_unix.so \\\n  nullok\nauth required pam_deny.so\n"
      ],
      "sudo", 2
    ),
  ])
  func `the line goes before the password, and out again without a trace`(
    files: [String: String], service: String, line: Int
  ) throws {
    let machine = try Machine(files)
    let edit = try machine.adding(service)
    #expect(edit.text == plain)
    #expect(edit.line == line)
    #expect(edit.verdict.match == .granted)
    #expect(edit.verdict.rightPassword == .granted)
    #expect(edit.verdict.faults.isEmpty)
    try machine.write(String(decoding: edit.after, as: UTF8.self), service)
    #expect(WiringEdit.markedLine(in: StackText(edit.after)) == line)
    let back = try #require(try machine.removing(service))
    #expect(back.after == edit.before)
    #expect(back.line == line)
  }

  @Test func `a second factor after the password is not passed by`() throws {
    let machine = try Machine(
      Stock.fedora.merging([
        "vpn": "auth substack system-auth\nauth required pam_google_authenticator.so\n",
        "odd": "auth include two-steps\n", "two-steps": "auth required pam_unix.so\nauth required pam_oath.so\n",
      ]) { $1 })
    let vpn = try machine.adding("vpn")
    #expect(vpn.text == "auth  [success=1 default=ignore]  pam_whorl.so  # whorl")
    #expect(vpn.verdict.match == .granted)
    guard case .bypasses(let what)? = machine.refusal("odd") else {
      Issue.record("the line was put in before an include with a second factor inside")
      return
    }
    #expect(what.hasPrefix("pam_oath.so"))
  }

  @Test func `the finger and the password are asked for at once where the password may come from either prompt`() throws
  {
    let machine = try Machine(["sudo": "auth sufficient pam_unix.so try_first_pass\nauth required pam_deny.so\n"])
    #expect(try machine.adding("sudo").text == "auth  sufficient  pam_whorl.so  simultaneous  # whorl")
  }

  @Test func `a step after the login is no finger, and opens nothing by itself`() throws {
    let step = "auth optional pam_whorl.so login keyring\n"
    let machine = try Machine(Stock.debian.merging(["common-auth": Stock.commonAuth + step]) { $1 })
    #expect(!machine.verdict("sudo").hasFinger)
    #expect(machine.verdict("sudo").rightPassword == .granted)
    let edit = try machine.adding("sudo")
    #expect(edit.verdict.faults.isEmpty)
    #expect(try machine.removing("common-auth") == nil)
    // By itself: whorld saw nothing, so it says no.
    let alone = try Machine(["a": step, "other": "auth required pam_deny.so\n"])
    #expect(alone.verdict("a").wrongPassword == .denied)
  }

  @Test func `a lock after wrong passwords holds for fingers too`() throws {
    let machine = try Machine(Stock.arch)
    guard case .bypasses(let what)? = machine.refusal("sudo") else {
      Issue.record("a match passes the lock by")
      return
    }
    #expect(what.hasPrefix("pam_faillock.so"))
  }

  @Test func `a line that leaps over the password still lands where it did`() throws {
    let machine = try Machine([
      "gdm": "auth [success=1 default=ignore] pam_succeed_if.so user ingroup nopasswdlogin\n"
        + "auth requisite pam_unix.so\nauth required pam_permit.so\n"
    ])
    let edit = try machine.adding("gdm")
    #expect(edit.line == 1)
    #expect(edit.verdict.alsoLetsIn == ["pam_succeed_if.so (\(machine.folder("etc/pam.d/gdm")), line 2)"])
  }

  @Test func `a line over which another leaps is not taken out`() throws {
    let machine = try Machine([
      "a": "auth [success=2 default=ignore] pam_succeed_if.so uid > 5\nauth sufficient pam_whorl.so # whorl\n"
        + "auth requisite pam_unix.so\nauth required pam_permit.so\n"
    ])
    #expect(throws: WiringEdit.Refusal.leapedOver(2)) { try machine.removing("a") }
  }

  @Test(arguments: [
    ("auth required pam_shells.so\nauth sufficient pam_unix.so\n", WiringEdit.Refusal.open),
    ("auth sufficient pam_permit.so\nauth required pam_unix.so\n", .open),
    ("auth required pam_faillock.so preauth\nauth optional pam_unix.so\n", .open),
    ("auth required pam_deny.so\nauth required pam_unix.so\n", .passwordIsClosed),
    ("auth required pam_unix.so use_first_pass\n", .passwordIsClosed),
    ("auth sufficient pam_rootok.so\n", .noPassword), ("account required pam_unix.so\n", .noOwnLines),
    ("", .noOwnLines),
  ])
  func `stacks that are wrong already are left alone`(text: String, refusal: WiringEdit.Refusal) throws {
    let machine = try Machine(["a": text, "other": "auth required pam_deny.so\n"])
    #expect(machine.refusal("a") == refusal)
  }

  @Test func `stacks that nobody can judge are left alone`() throws {
    let machine = try Machine([
      "a": "auth required \\\n\n pam_unix.so\n", "b": "@include nothing\nauth required pam_unix.so\n",
      "c": "auth required pam_unix.so \\\n", "d": "auth required pam_unix.so" + String(repeating: " x", count: 600),
    ])
    for service in ["a", "b", "c", "d"] {
      guard case .unusable? = machine.refusal(service) else {
        Issue.record("\(service) was edited")
        continue
      }
    }
  }

  @Test func `a service that includes the file is not harmed`() throws {
    let machine = try Machine([
      "su": "auth sufficient pam_unix.so\nauth required pam_deny.so\n",
      // Leaps over one line of the file that it includes.
      "strict":
        "auth [success=1 default=ignore] pam_succeed_if.so uid > 5\nauth include su\nauth required pam_permit.so\n",
    ])
    #expect(machine.refusal("su") == .harms("strict"))
    let fine = try Machine(Stock.fedora)
    let edit = try fine.adding("sudo")
    try fine.write(String(decoding: edit.after, as: UTF8.self), "sudo")
    #expect(fine.verdict("sudo-i").match == .granted)
  }

  @Test func `a line of somebody else's is not taken out`() throws {
    let machine = try Machine([
      "a": "auth sufficient pam_whorl.so\nauth required pam_unix.so\n", "b": "auth required x.so\n",
    ])
    #expect(throws: WiringEdit.Refusal.foreignLine(1)) { try machine.removing("a") }
    #expect(try machine.removing("b") == nil)
  }

  @Test func `any bytes give an answer`() throws {
    let machine = try Machine(Stock.debian)
    var random = RandomStacks(seed: .random(in: 0...9_999_999))
    for _ in 0..<200 {
      for (name, text) in random.files("a", parts: ["b", "c"]) { try machine.write(text, name) }
      _ = machine.refusal("a")
      _ = machine.verdict("a")
      _ = try? machine.removing("a")
    }
  }
}
