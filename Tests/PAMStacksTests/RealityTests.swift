import Foundation
import TestKit
import Testing

@testable import PAMStacks

/// What is said here of stacks is what the real libpam does.
@Suite(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "a mount namespace needs root"))
struct RealityTests {
  /// What may stand in the place of the finger and of the password: the scene that it is, and the module's answer.
  private static let fingers = ["success", "auth_err", "authinfo_unavail", "user_unknown", "ignore", "module_unknown"]
  private static let passwords = ["success", "auth_err"]

  private static let helpers: [(line: String, known: [String: PAMCodes])] = [
    ("", [:]), ("auth required pam_faillock.so preauth nodelay dir=@FAILLOCK@\n", [:]),
    ("auth required pam_shells.so\n", [:]), ("auth required pam_succeed_if.so quiet uid >= 0\n", [:]),
    ("auth requisite pam_succeed_if.so quiet uid > 0\n", ["pam_succeed_if.so": PAMCodes(.authErr)]),
    ("auth [success=1 default=ignore] pam_succeed_if.so quiet uid >= 0\n", ["pam_succeed_if.so": .success]),
    ("auth required pam_exec.so quiet /bin/true\n", [:]),
    ("auth required pam_exec.so quiet /bin/false\n", ["pam_exec.so": PAMCodes(.systemErr)]),
    ("auth required pam_env.so\n", [:]),
  ]

  @Test(arguments: [
    "required", "requisite", "sufficient", "[success=1 default=ignore]", "[success=2 default=ignore]",
  ])
  func `the verdict on a service is pamtester's`(control: String) async throws {
    let real = try RealPAM()
    var stacks: [(text: String, known: [String: PAMCodes])] = []
    for helper in Self.helpers {
      for password in ["sufficient", "[success=1 default=ignore]"] {
        for tail in ["", "auth required pam_deny.so\n", "auth requisite pam_deny.so\nauth required pam_permit.so\n"] {
          let line = helper.line.replacingOccurrences(of: "@FAILLOCK@", with: real.folder("faillock"))
          stacks.append(
            ("\(line)auth \(control) pam_whorl.so\nauth \(password) pam_unix.so\n\(tail)", helper.known))
        }
      }
    }
    var services: [String] = []
    for (number, stack) in stacks.enumerated() {
      try real.write(stack.text, "plain\(number)")
      for finger in Self.fingers {
        for password in Self.passwords {
          services.append("s\(number)-\(finger)-\(password)")
          try real.write(
            stack.text.replacingOccurrences(of: "pam_whorl.so", with: "pam_debug.so auth=\(finger)")
              .replacingOccurrences(of: "pam_unix.so", with: "pam_debug.so auth=\(password)"), services.last ?? "")
        }
      }
    }
    let granted = try await real.grants(services)
    #expect(granted.count == services.count)
    // Ours knows pam_whorl.so from its name; here it need not be installed.
    var files = real.files
    files.places.moduleFolders = []
    for (number, stack) in stacks.enumerated() {
      let verdict = ServiceVerdict(service: "plain\(number)", in: files, known: stack.known)
      func said(_ fingers: [String], _ password: String) -> PAMOutcome {
        let grants = fingers.map { granted["s\(number)-\($0)-\(password)"] == true }
        return PAMOutcome(mayGrant: grants.contains(true), mayDeny: grants.contains(false))
      }
      let rest = Self.fingers.filter { $0 != "success" }
      let text = Comment(rawValue: stack.text)
      #expect(verdict.match == said(["success"], "auth_err"), text)
      #expect(verdict.noMatch == said(["auth_err"], "auth_err"), text)
      #expect(verdict.unavailable == said(rest.filter { $0 != "auth_err" }, "auth_err"), text)
      #expect(verdict.rightPassword == said(rest, "success"), text)
      #expect(verdict.wrongPassword == said(rest, "auth_err"), text)
    }
  }

  @Test func `files are found where libpam finds them`() async throws {
    let real = try RealPAM()
    let permit = "auth required pam_permit.so\n"
    try real.write("auth sufficient pam_permit.so\nauth required pam_deny.so\n", "other")
    try real.write(permit, "theirs", in: "usr")
    try real.write("auth required pam_deny.so\n", "both")
    try real.write(permit, "both", in: "usr")
    try real.write("auth include theirs\n", "includes")
    try real.write("auth include theirs\n", "includes2", in: "usr")
    try real.write("auth include both\n", "includes3", in: "usr")
    try real.write(permit + "@include theirs\n", "at")
    try real.write(permit + "@include nothing\n", "at2")
    try real.write(permit + "account include nothing\n", "account")
    try real.write("account required pam_permit.so\n", "silent")
    try real.write("", "empty")
    try real.write(permit.replacingOccurrences(of: "\n", with: "\r\n"), "dos")
    try real.write("auth required pam_permit.so \\\n", "cut")
    try real.write("auth required pam_deny.so # \\\nauth sufficient pam_permit.so\n", "comment")
    let services = [
      "theirs", "both", "includes", "includes2", "includes3", "at", "at2", "account", "silent", "empty", "dos", "cut",
      "comment", "other", "absent", "THEIRS", "Both",
    ]
    let granted = try await real.grants(services)
    for service in services {
      let simulator = Simulator(stack: PAMStack(service: service, in: real.files))
      #expect(simulator.outcome(simulator.all(.wrongPassword)).mayGrant == granted[service], "\(service)")
    }
    #expect(granted["theirs"] == true && granted["both"] == false)
  }

  @Test func `stacks by chance come to what libpam makes of them`() async throws {
    let seed = ProcessInfo.processInfo.environment["WHORL_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...9_999_999)
    var random = RandomStacks(seed: seed)
    let real = try RealPAM()
    var texts: [String: String] = [:]
    var services: [String] = []
    for number in 0..<300 {
      let service = "r\(number)"
      services.append(service)
      let written = random.files(service, parts: (1...3).map { "\(service)p\($0)" })
      for (name, text) in written { try real.write(text, name) }
      texts[service] = written.sorted { $0.key < $1.key }.map { "--- \($0.key)\n\($0.value)" }.joined()
    }
    let granted = try await real.grants(services)
    #expect(granted.count == services.count)
    var yes = 0
    for service in services {
      let stack = PAMStack(service: service, in: real.files)
      if stack.doubt != nil { continue }
      let simulator = Simulator(stack: stack)
      let outcome = simulator.outcome(simulator.all(.wrongPassword))
      #expect(outcome.mayGrant != outcome.mayDeny)
      #expect(outcome.mayGrant == granted[service], "seed \(seed)\n\(texts[service] ?? "")")
      if outcome.mayGrant { yes += 1 }
    }
    // Stacks that all refuse would prove little.
    #expect(yes > 20 && yes < 280, "seed \(seed): \(yes)")
  }

  @Test func `what enable writes opens for a match, the right password and who was let in before, says pamtester`()
    async throws
  {
    let machines = [
      Stock.debian, Stock.fedora,
      [
        "vpn": "auth substack system-auth\nauth required pam_google_authenticator.so\n",
        "gdm":
          "auth [success=1 default=ignore] pam_rootok.so\nauth requisite pam_unix.so\nauth required pam_permit.so\n",
        "system-auth":
          "auth required pam_faillock.so preauth\nauth sufficient pam_unix.so\nauth required pam_deny.so\n",
        "safe": "auth required pam_shells.so\nauth required pam_unix.so\n",
      ],
    ]
    for stock in machines {
      let machine = try Machine(stock)
      let real = try RealPAM()
      let services = stock.keys.filter { machine.refusal($0) == nil && !$0.contains("-") && $0 != "other" }.sorted()
      #expect(services.count > 1)
      var asked: [(name: String, service: String, finger: String, password: String, other: String)] = []
      for service in services {
        let edit = try machine.adding(service)
        for finger in Self.fingers {
          for password in Self.passwords {
            for other in Self.passwords {
              let name = "\(service).\(finger).\(password).\(other)"
              asked.append((name, service, finger, password, other))
              // Each has copies of its own of what it includes.
              for (part, text) in stock.merging(
                [service: String(decoding: edit.after, as: UTF8.self)], uniquingKeysWith: { $1 })
              {
                var text = text
                for key in stock.keys {
                  for word in ["include", "substack"] {
                    text = text.replacing(try Regex("\\b\(word)\\s+\(key)\\n"), with: "\(word) \(name).\(key)\n")
                  }
                }
                for (module, verdict) in [
                  ("pam_whorl.so", finger), ("pam_unix.so", password), ("pam_sss.so", password),
                  ("pam_rootok.so", other),
                  ("pam_google_authenticator.so", other), ("pam_usertype.so", "success"),
                  ("pam_localuser.so", "success"),
                ] { text = text.replacing("\(module)", with: "pam_debug.so auth=\(verdict)") }
                try real.write(text, part == service ? name : "\(name).\(part)")
              }
            }
          }
        }
      }
      let granted = try await real.grants(asked.map(\.name))
      #expect(granted.count == asked.count)
      for ask in asked {
        let isProven = ask.finger == "success" || ask.password == "success"
        let expected =
          switch ask.service {
          case "vpn": isProven && ask.other == "success"
          case "su", "gdm": isProven || ask.other == "success"
          default: isProven
          }
        #expect(granted[ask.name] == expected, "\(ask)")
      }
    }
  }
}
