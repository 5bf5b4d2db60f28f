import CPosix
import Foundation
import TestKit
import Testing

@testable import PAMStacks

@Suite struct ServiceFileTests {
  private func file(_ machine: Machine, _ service: String) throws(ServiceFile.Problem) -> ServiceFile {
    try ServiceFile(service: service, in: machine.places, backups: machine.folder("var/lib/whorl/pam"))
  }

  private func problem(_ machine: Machine, _ service: String) -> ServiceFile.Problem? {
    do throws(ServiceFile.Problem) {
      _ = try file(machine, service)
      return nil
    } catch { return error }
  }

  @Test func `the file is replaced whole, with its mode and its labels, and a copy is kept`() throws {
    let machine = try Machine(["sudo": "old\n"])
    let path = machine.folder("etc/pam.d/sudo")
    chmod(path, 0o640)
    let labelled = setxattr(path, "user.label", "x", 1, 0) == 0
    let sudo = try file(machine, "sudo")
    try sudo.replace(by: Array("new\n".utf8), keepsBackup: true)
    #expect(try machine.text("sudo") == "new\n")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o640)
    if labelled {
      var value = [UInt8](repeating: 0, count: 4)
      #expect(getxattr(path, "user.label", &value, 4) == 1 && value[0] == UInt8(ascii: "x"))
    }
    #expect(try file(machine, "sudo").kept() == Array("old\n".utf8))
    // Nothing beside it that PAM or a person would meet.
    #expect(try FileManager.default.contentsOfDirectory(atPath: machine.folder("etc/pam.d")) == ["sudo"])
  }

  @Test(arguments: ["mode", "owner", "link", "above", "backups"])
  func `root's edit goes through no folder or link that others can change`(how: String) throws {
    guard geteuid() == 0 else { return }
    let machine = try Machine(["sudo": "old\n"])
    let folder = machine.folder("etc/pam.d")
    switch how {
    case "mode": chmod(folder, 0o777)
    case "owner": chown(folder, 2001, 2001)
    case "above": chmod(machine.folder("etc"), 0o777)
    case "backups":
      for name in ["var", "var/lib"] { try machine.folder.makeFolder(name, mode: 0o755) }
      chmod(machine.folder("var/lib"), 0o777)
    default:
      try machine.folder.makeFolder("theirs", mode: 0o755)
      rename(folder, machine.folder("theirs/pam.d"))
      chown(machine.folder("theirs"), 2001, 2001)
      try machine.folder.link("../theirs/pam.d", to: "etc/pam.d")
    }
    let sudo = try file(machine, "sudo")
    let place = [
      "mode": "etc/pam.d", "owner": "etc/pam.d", "above": "etc", "backups": "var/lib", "link": "etc/../theirs",
    ]
    #expect(throws: ServiceFile.Problem.othersWrite(machine.folder(try #require(place[how])))) {
      try sudo.replace(by: Array("new\n".utf8), keepsBackup: true)
    }
    #expect(try machine.text("sudo") == "old\n")
  }

  @Test func `root's own links are followed`() throws {
    let machine = try Machine(["sudo": "old\n"])
    rename(machine.folder("etc"), machine.folder("real"))
    try machine.folder.link(machine.folder("real"), to: "etc")
    try file(machine, "sudo").replace(by: Array("new\n".utf8), keepsBackup: true)
    #expect(try machine.text("sudo") == "new\n")
  }

  @Test(arguments: ["auth include", "@include"])
  func `includes that double without adding a step end`(word: String) throws {
    let machine = try Machine()
    for depth in 0..<14 {
      try machine.write(String(repeating: "\(word) i\(depth + 1)\n", count: 50), "i\(depth)")
    }
    try machine.write("# nothing\n", "i14")
    try machine.write("\(word) i0\nauth required pam_unix.so\n", "sudo")
    guard case .unusable = machine.refusal("sudo") else {
      Issue.record("such a stack is taken")
      return
    }
    // It is not PAM that gives up there.
    let verdict = machine.verdict("sudo")
    #expect(!verdict.isJudged)
    #expect(verdict.faults.contains { if case .unjudged = $0 { true } else { false } })
    #expect(!verdict.faults.contains { if case .refused = $0 { true } else { false } })
  }

  @Test func `a file that somebody changed meanwhile is left alone`() throws {
    let machine = try Machine(["sudo": "old\n"])
    let sudo = try file(machine, "sudo")
    try machine.write("theirs\n", "sudo")
    #expect(throws: ServiceFile.Problem.changed) { try sudo.replace(by: Array("new\n".utf8), keepsBackup: false) }
    #expect(try machine.text("sudo") == "theirs\n")
  }

  @Test func `the distribution's own file is not touched`() throws {
    let machine = try Machine(["usr/lib/pam.d/polkit-1": "theirs\n"])
    let polkit = try file(machine, "polkit-1")
    #expect(polkit.isDistributions)
    try polkit.replace(by: Array("ours\n".utf8), keepsBackup: true)
    #expect(try machine.text("polkit-1") == "ours\n")
    let ours = try file(machine, "polkit-1")
    #expect(!ours.isDistributions)
    #expect(try ours.yieldToDistribution(Array("else\n".utf8), in: machine.places) == nil)
    #expect(try ours.yieldToDistribution(Array("theirs\n".utf8), in: machine.places) != nil)
    #expect(try file(machine, "polkit-1").isDistributions)
  }

  @Test func `links and what other tools write are named and left alone`() throws {
    let machine = try Machine([
      "common-auth": "# managed by pam-auth-update\n", "fresh": "# Generated by authselect on Monday\n",
      "usr/lib/pam.d/target": "x\n",
    ])
    for (name, target) in [
      ("system-auth", "/etc/authselect/system-auth"), ("sudo", "/etc/static/pam.d/sudo"), ("su", "/nix/store/x/su"),
      ("link", "../../usr/lib/pam.d/target"), ("broken", "/nonexistent"),
    ] { #expect(symlink(target, machine.folder("etc/pam.d/\(name)")) == 0) }
    try machine.folder.makeFolder("etc/pam.d/folder")
    #expect(problem(machine, "common-auth") == .managed(.pamAuthUpdate))
    #expect(problem(machine, "fresh") == .managed(.authselect))
    #expect(problem(machine, "system-auth") == .managed(.authselect))
    #expect(problem(machine, "sudo") == .managed(.nixos))
    #expect(problem(machine, "su") == .managed(.nixos))
    #expect(problem(machine, "link") == .link("../../usr/lib/pam.d/target"))
    #expect(problem(machine, "broken") == .link("/nonexistent"))
    #expect(problem(machine, "folder") == .notFile)
    #expect(problem(machine, "nothing") == .notThere)
    for name in ["", ".x", "../pam.d/su", "a/b"] { #expect(problem(machine, name) == .badName) }
  }

  @Test func `without a copy there is nothing to restore`() throws {
    let machine = try Machine(["sudo": "x\n"])
    #expect(throws: ServiceFile.Problem.noBackup(machine.folder("var/lib/whorl/pam/sudo.whorl-backup"))) {
      try file(machine, "sudo").kept()
    }
  }
}
