import Foundation
import TestKit
import Testing

@testable import PAMStacks

/// The stacks of pam/examples/README.md, and the examples beside it, do what the page says.
@Suite struct DocumentTests {
  struct Example: Sendable, CustomTestStringConvertible {
    let service: String
    let text: String
    var testDescription: String { service }
  }

  /// What stands between "```pam NAME" and "```", in the order of the page.
  private static func examples() throws -> [Example] {
    let page = try String(contentsOfFile: SourceTree.path("pam/examples/README.md"), encoding: .utf8)
    return page.components(separatedBy: "```pam ").dropFirst().map { part in
      let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
      return Example(
        service: String(lines[0]), text: lines.dropFirst().prefix { $0 != "```" }.joined(separator: "\n") + "\n")
    }
  }

  @Test func `Each stack of the page opens for a match or the right password alone`() throws {
    let examples = try Self.examples()
    #expect(examples.count >= 5)
    for example in examples {
      // Under a service's name: a stack that is only a part of others is none.
      let verdict = try Machine(["sudo": example.text]).verdict("sudo")
      #expect(verdict.faults.isEmpty, "\(example.service): \(verdict.faults)")
      #expect(verdict.hasFinger && verdict.hasPassword)
      #expect(verdict.match == .granted, "\(example.service)")
      #expect(verdict.rightPassword == .granted, "\(example.service)")
      for outcome in [verdict.noMatch, verdict.unavailable, verdict.wrongPassword] {
        #expect(outcome == .denied, "\(example.service)")
      }
    }
  }

  @Test func `A finger that was missed is counted by no faillock line`() throws {
    for example in try Self.examples() where example.text.contains("authfail") {
      let lines = example.text.split(separator: "\n")
      let finger = try #require(lines.firstIndex { $0.contains("pam_whorl.so") })
      let password = try #require(lines.firstIndex { $0.contains("pam_unix.so") })
      let count = try #require(lines.firstIndex { $0.contains("authfail") })
      #expect(finger < password && password < count, "\(example.service): the password stands between")
    }
  }
}
