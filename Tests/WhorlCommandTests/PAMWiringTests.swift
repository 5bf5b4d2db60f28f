import Foundation
import PAMStacks
import Testing

@testable import WhorlCommand

@Suite struct PAMWiringTests {
  /// Writes the files into a folder of its own, reads the wiring, and takes the folder away.
  private func wiring(_ files: [String: String], modules: [String] = ["pam_whorl.so"]) throws -> PAMWiring {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("whorl-pam-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    for folder in ["etc", "usr", "modules"] {
      try FileManager.default.createDirectory(
        at: root.appendingPathComponent(folder), withIntermediateDirectories: true)
    }
    for (name, text) in files {
      let path = name.contains("/") ? name : "etc/\(name)"
      try Data(text.utf8).write(to: root.appendingPathComponent(path))
    }
    for module in modules { try Data().write(to: root.appendingPathComponent("modules/\(module)")) }
    return PAMWiring.read(
      PAMPlaces(folders: ["\(root.path)/etc", "\(root.path)/usr"], moduleFolders: ["\(root.path)/modules"]))
  }

  private let line = "auth sufficient pam_whorl.so\n"

  @Test func `services are found through their own line and through what they include`() throws {
    let wiring = try wiring([
      "sudo": "# sudo\n@include common-auth\n", "login": "auth  optional pam_faildelay.so\nauth substack common-auth\n",
      "su": "auth include common-auth", "cron": "@include common-account\n", "common-auth": line, "own": line,
      "common-account": "account required pam_unix.so\n", "other": "auth required pam_unix.so\n",
    ])
    #expect(wiring.services == ["login", "own", "su", "sudo"])
    #expect(wiring.hasFiles)
    #expect(!wiring.moduleIsMissing)
    #expect(wiring.unreadable.isEmpty)
  }

  @Test(arguments: [
    "auth [success=2 default=ignore] pam_whorl.so timeout=20 # finger\n", "-auth sufficient pam_whorl.so",
    "auth\tsufficient\tpam_whorl.so\r\n", "AUTH sufficient \\\n  pam_whorl.so\n",
    "auth sufficient /nonexistent/pam_whorl.so",
  ])
  func `every way to write the line is understood`(text: String) throws {
    #expect(try wiring(["sudo": text]).services == ["sudo"])
  }

  @Test(arguments: [
    "# auth sufficient pam_whorl.so\n", "account sufficient pam_whorl.so\n", "auth sufficient pam_whorl.so.old\n",
    "auth sufficient notpam_whorl.so\n", "auth pam_whorl.so\n", "auth required pam_exec.so pam_whorl.so\n", "",
    "\\\n\\\n",
    "@include\n", "auth [x pam_whorl.so",
  ])
  func `what only looks like the line is not`(text: String) throws {
    #expect(try wiring(["sudo": text]).services.isEmpty)
  }

  @Test func `includes that go round, lead nowhere or are deep end`() throws {
    var files = [
      "a": "@include b\n", "b": "@include a\nauth include a\n", "c": "@include nothing\n", "self": "@include self\n",
    ]
    for depth in 0..<40 { files["deep\(depth)"] = "@include deep\(depth + 1)\n" }
    #expect(try wiring(files).services.isEmpty)
  }

  @Test func `the distribution's folder serves where the machine's own has no such file`() throws {
    let wiring = try wiring([
      "sudo": "@include base\n", "usr/base": line, "usr/login": line, "login": "auth required x.so\n",
    ])
    #expect(wiring.services == ["base", "sudo"])
  }

  @Test func `a module that is asked for and is not there is told`() throws {
    #expect(try wiring(["sudo": line], modules: []).moduleIsMissing)
    #expect(try wiring(["sudo": "auth sufficient /nonexistent/pam_whorl.so"]).moduleIsMissing)
  }

  @Test func `who writes the common stack is known`() throws {
    #expect(try !wiring(["sudo": "auth required x.so\n"]).hasPAMAuthUpdate)
    let text = "# This file is managed by pam-auth-update by default.\nauth required x.so\n"
    #expect(try wiring(["common-auth": text]).hasPAMAuthUpdate)
  }

  @Test func `any bytes give an answer`() throws {
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "auth ", "@include ", "sudo", "[", "]", "\\\n", "\n", "#", "pam_whorl.so", "\u{0}", "é", "-auth", " ",
    ]
    for _ in 0..<50 {
      let text = (0..<Int.random(in: 0...60, using: &random)).map { _ in pieces.randomElement() ?? "" }.joined()
      _ = try wiring(["sudo": text, "login": "@include sudo"])
    }
  }

  @Test func `no folder is no wiring`() {
    let wiring = PAMWiring.read(PAMPlaces(folders: ["/nonexistent"], moduleFolders: []))
    #expect(wiring == PAMWiring())
  }
}
