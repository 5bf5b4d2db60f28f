import Foundation
import TestKit
import Testing

@testable import WhorlCommand

/// What is written down says what the program does.
@Suite struct DocumentTests {
  // This file is Tests/WhorlCommandTests/DocumentTests.swift.
  private let data = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("data")

  private func text(_ path: String) throws -> String {
    try String(contentsOf: data.appendingPathComponent(path), encoding: .utf8)
  }

  @Test func `the manual page has every command, requirement and exit code`() throws {
    let page = try text("man/whorl.1")
    for verb in Verb.allCases {
      #expect(page.contains(".It Cm \(verb.rawValue)\n") || page.contains(".It Cm \(verb.rawValue) "))
    }
    for requirement in Requirement.allCases { #expect(page.contains(".It Cm \(requirement.rawValue)\n")) }
    for code in ExitCode.allCases { #expect(page.contains(".It \(code.rawValue)\n")) }
    for option in ["h", "V", "u", "a", "r", "c", "y", "t"] { #expect(page.contains(".Fl \(option) ")) }
  }

  @Test func `the help has every command`() {
    for verb in Verb.allCases {
      #expect(HelpTexts.text(for: nil).contains("  \(verb.rawValue) "))
      #expect(HelpTexts.text(for: verb).hasPrefix("usage: whorl \(verb.rawValue)"))
    }
  }

  @Test(arguments: [
    (["whorl", "e"], "enroll export"), (["whorl", "import", "--p"], "--pairs --passphrase-fd"),
    (["whorl", "export", "--passphrase-fd", "3", "/etc/os-rel"], "/etc/os-release"),
    (["whorl", "enroll", "right-i"], "right-index-finger"),
    (["whorl", "set", "x", "--require", "p"], "presence passcode"),
    (["whorl", "set", "x", "--require", "=", "p"], "presence passcode"), (["whorl", "get", "m"], "mail my\\ mail"),
    (["whorl", "get", "mail", ""], ""), (["whorl", "delete", "l"], "left-thumb"),
    (["whorl", "delete", "-"], "--all --user --help"), (["whorl", "adopt", "left-thumb", "l"], "left-thumb"),
    (["whorl", "reader", "t"], "trust"), (["whorl", "reader", "trust", "0"], "0a1b2c3d"),
    (["whorl", "reader", "distrust", "--"], "--all --json --help"), (["whorl", "reader", "trust", "0a1b2c3d", ""], ""),
    (["whorl", "keyring", "d"], "disable"), (["whorl", "rm", "--", "m"], "mail my\\ mail"),
    (["whorl", "--v"], "--version"), (["whorl", "agent", "--t"], "--terminal"),
    (["whorl", "agent", "--process", "7", "--p"], "--pinentry --process --parent-fd"),
    (["whorl", "key", "g"], "generate"), (["whorl", "key", "sign", "l"], "login"), (["whorl", "key", "list", "l"], ""),
    (["whorl", "key", "generate", "l"], ""), (["whorl", "key", "generate", "x", "-t", ""], "ed25519 p256"),
    (["whorl", "pam", "e"], "enable"), (["whorl", "pam", "enable", "s"], "sudo su"),
    (["whorl", "pam", "enable", "sudo", ""], ""), (["whorl", "pam", "check", "sudo", "l"], "login"),
    (["whorl", "pam", "disable", "--"], "--dry-run --restore --root --help"), (["whorl", "pam", "status", ""], ""),
    (["whorl", "key", "sign", "login", "--"], "--hash --digest --help"),
  ])
  func `the completion offers what fits`(words: [String], offered: String) async throws {
    let script = """
      source "$0"
      whorl() {
        case $1 in
          list) printf 'mail\\tany\\nmy mail\\tnone\\nm\\\\n\\tany\\n' ;;
          fingers) printf 'left-thumb\\n' ;;
          reader) printf '0a1b2c3d\\tFake\\ttrusted\\tbuilt in\\n' ;;
          pam) printf 'login\\tno finger\\nsudo\\tfinger\\tline 3\\n\\tasks twice\\nsu\\tno finger\\n' ;;
          key) printf 'login\\tp256\\tany\\n' ;;
        esac
      }
      COMP_WORDS=("$@")
      COMP_CWORD=$(($# - 1))
      _whorl
      printf '%s' "${COMPREPLY[*]}"
      """
    let result = try await RunningProgram.run(
      "/bin/bash", ["-c", script, data.appendingPathComponent("completions/whorl.bash").path] + words,
      environment: ["PATH": "/usr/bin:/bin"])
    #expect(result.text == offered)
    #expect(result.errorText == "")
  }
}
