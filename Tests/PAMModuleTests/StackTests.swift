import Foundation
import TestKit
import Testing

extension ModuleSuite {
  /// The stacks that we ship: nothing but a match or the right password opens them.
  @Suite struct StackTests {
    /// What a module may say, by pam_debug's names; ignore stands for a module that breaks its contract.
    static let verdicts = ["success", "auth_err", "authinfo_unavail", "user_unknown", "conv_err", "ignore"]

    /// The auth lines of a service file with pam_debug in the place of pam_unix, and of ours where a verdict is given;
    /// what pamtester does not ask for is left out, and so are the delays.
    /// - Parameter login: what our line after the login says; nil for the finger's verdict.
    static func withVerdicts(
      _ text: String, finger: String? = nil, password: String, login: String? = nil
    ) -> String {
      text.split(separator: "\n").filter { $0.hasPrefix("auth") }.map { line in
        let line = line.replacingOccurrences(of: "delay=3000000", with: "delay=0")
        for (module, verdict) in [
          ("pam_whorl.so login", login), ("pam_whorl.so", finger), ("pam_unix.so", Optional(password)),
        ] {
          if let verdict, let range = line.range(of: module) {
            return line[..<range.lowerBound] + "pam_debug.so auth=\(verdict)"
          }
        }
        return line
      }.joined(separator: "\n") + "\n"
    }

    @Test(arguments: ["sudo", "login", "polkit-1", "screenlock-finger", "screenlock-password", "gdm-fingerprint"])
    func `an example opens for a match or the right password alone`(name: String) async throws {
      let bench = try await Bench()
      let text = try String(contentsOfFile: Bench.projectFolder + "/pam/examples/\(name)", encoding: .utf8)
      #expect(text.split(separator: "\n").last { $0.hasPrefix("auth") }?.hasSuffix("pam_deny.so") == true)
      // Lines, not comments.
      let lines = text.split(separator: "\n").filter { $0.hasPrefix("auth") }
      let hasPassword = lines.contains { $0.contains("pam_unix.so") }
      let hasFinger = lines.contains { $0.contains("pam_whorl.so") }
      try await PamWrapperLock.hold {
        for finger in StackTests.verdicts {
          for password in StackTests.verdicts {
            let stack = StackTests.withVerdicts(text, finger: finger, password: password)
            try bench.folder.write(stack, to: "pam.d/\(name)")
            let granted = try await bench.pamtester(service: name) == Bench.Word.granted
            #expect(
              granted == ((hasFinger && finger == "success") || (hasPassword && password == "success")),
              "\(finger), \(password)")
          }
        }
      }
    }

    /// Lines that administrators and distributions put before the common stack.
    static func helpers(_ folder: TemporaryFolder) -> [String] {
      [
        "", "auth required pam_faillock.so preauth nodelay dir=\(folder("faillock"))\n",
        "auth required pam_shells.so\n",
        "auth required pam_succeed_if.so quiet uid >= 0\n", "auth required pam_exec.so quiet /bin/true\n",
        "auth required pam_permit.so\n",
      ]
    }

    /// common-auth, or another of the common files, as Debian's own tool writes it with our profiles, and whether the tool
    /// could take it out again.
    static func commonAuth(
      _ folder: TemporaryFolder, profiles: [String] = ["whorl"], file: String = "common-auth"
    ) async throws -> (text: String, removable: Bool) {
      let ended = try await RunningProgram.run(
        Bench.tool("auth_update.sh"), [folder.path] + profiles.map { Bench.projectFolder + "/pam/pam-configs/\($0)" },
        environment: Bench.plainEnvironment)
      guard ended.status == 0 else { throw BenchError("pam-auth-update: \(ended.errorText)") }
      let read = { (state: String) in try String(contentsOfFile: folder("\(state)/\(file)"), encoding: .utf8) }
      return (try read("with"), try read("before") == read("after"))
    }

    @Test func `with the step after the login it still opens for a match or the right password alone`() async throws {
      let bench = try await Bench()
      let (common, removable) = try await StackTests.commonAuth(
        TemporaryFolder(), profiles: ["whorl", "whorl-login"])
      #expect(removable)
      let lines = common.split(separator: "\n").map(String.init)
      let deny = try #require(lines.firstIndex { $0.contains("pam_deny.so") })
      let login = try #require(lines.firstIndex { $0.hasSuffix("pam_whorl.so login keyring") })
      #expect(deny < login, "only who was let in gets there")
      #expect(lines.last { $0.hasPrefix("auth") } == lines[login], "behind modules that need the password itself")
      try await PamWrapperLock.hold {
        for helper in StackTests.helpers(bench.folder) {
          for finger in ["success", "auth_err", "authinfo_unavail"] {
            for password in ["success", "auth_err"] {
              for step in ["success", "auth_err", "authinfo_unavail"] {
                let stack = StackTests.withVerdicts(common, finger: finger, password: password, login: step)
                try bench.folder.write(helper + stack, to: "pam.d/whorl-test")
                let granted = try await bench.pamtester() == Bench.Word.granted
                #expect(
                  granted == (finger == "success" || password == "success"), "\(helper)\(finger), \(password), \(step)")
              }
            }
          }
        }
      }
    }

    @Test func `the profile for the step after the login has passwords told too`() async throws {
      let (common, removable) = try await StackTests.commonAuth(
        TemporaryFolder(), profiles: ["whorl-login"], file: "common-password")
      #expect(removable)
      let lines = common.split(separator: "\n").filter { $0.hasPrefix("password") }.map(String.init)
      let unix = try #require(lines.firstIndex { $0.contains("pam_unix.so") })
      let whorl = try #require(lines.firstIndex { $0.contains("pam_whorl.so") })
      #expect(unix < whorl)
      #expect(lines[whorl].contains("optional"))
    }

    @Test func `our pam-auth-update profile denies whatever stands before it and whatever the module says`()
      async throws
    {
      let bench = try await Bench()
      let (common, removable) = try await StackTests.commonAuth(TemporaryFolder())
      #expect(common.contains("pam_whorl.so simultaneous always-prompt\n"))
      #expect(removable)
      try await PamWrapperLock.hold {
        for helper in StackTests.helpers(bench.folder) {
          for finger in StackTests.verdicts {
            for password in ["success", "auth_err"] {
              let stack = helper + StackTests.withVerdicts(common, finger: finger, password: password)
              try bench.folder.write(stack, to: "pam.d/whorl-test")
              let granted = try await bench.pamtester() == Bench.Word.granted
              #expect(granted == (finger == "success" || password == "success"), "\(helper)\(finger), \(password)")
            }
          }
        }
      }
    }

    @Test func `the real module in that profile opens for a match alone`() async throws {
      let bench = try await Bench()
      let (common, _) = try await StackTests.commonAuth(TemporaryFolder())
      let stack = StackTests.withVerdicts(common, password: "auth_err")
        .replacingOccurrences(of: "pam_whorl.so", with: bench.module)
      let words = {
        try await PamWrapperLock.hold {
          var words: [String] = []
          for helper in StackTests.helpers(bench.folder) {
            try bench.folder.write(helper + stack, to: "pam.d/whorl-test")
            words.append(try await bench.pamtester())
          }
          return words
        }
      }
      let all = StackTests.helpers(bench.folder)
      let refused = Array(repeating: Bench.Word.wrong, count: all.count)
      #expect(try await words() == refused, "no daemon")
      for error in ["BiometryNotEnrolled", "Busy", "BiometryNotAvailable", "TimedOut", "AuthenticationFailed"] {
        #expect(try await bench.withWhorld([.error("org.whorl.Error.\(error)")], words) == refused, "\(error)")
      }
      #expect(try await bench.withWhorld([.reply()], words) == all.map { _ in Bench.Word.granted }, "match")
    }
  }
}
