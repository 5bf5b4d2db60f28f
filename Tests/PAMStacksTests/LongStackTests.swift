import Testing

@testable import PAMStacks

/// Stacks far longer than people write them.
@Suite(.timeLimit(.minutes(5))) struct LongStackTests {
  /// Lines that repeat; all of them make walks part, or count as reasons or hurdles.
  @Test(arguments: [
    ["auth required pam_env.so"], ["auth optional pam_foo.so"], ["auth sufficient pam_exec.so /bin/true"],
    [
      "auth required pam_env.so", "auth requisite pam_nologin.so",
      "auth [success=1 default=ignore] pam_succeed_if.so uid > 5", "auth optional pam_faildelay.so",
    ],
    ["auth substack part"],
  ])
  func `a line finds its place behind a thousand`(lines: [String]) throws {
    let head = (0..<1000).map { lines[$0 % lines.count] }.joined(separator: "\n")
    let machine = try Machine([
      "sudo": head + "\nauth sufficient pam_unix.so\nauth required pam_deny.so\n",
      "part": "auth required pam_faildelay.so\n",
    ])
    let edit = try machine.adding("sudo")
    #expect(edit.line == 1001)
    #expect(edit.verdict.match.mayGrant && !edit.verdict.isFaulty)
    #expect(edit.verdict.rightPassword.mayGrant && !edit.verdict.noMatch.mayGrant || lines[0].contains("pam_exec"))
    try machine.write(String(decoding: edit.after, as: UTF8.self), "sudo")
    #expect(try machine.removing("sudo")?.after == edit.before)
  }

  @Test func `one step that says something else comes to what the whole stack then comes to`() throws {
    var random = RandomStacks(seed: .random(in: 0...9_999_999))
    let machine = try Machine()
    var differing = 0
    for number in 0..<100 {
      let written = random.files("r\(number)", parts: ["p1", "p2", "p3"])
      for (name, text) in written { try machine.write(text, name) }
      let stack = machine.verdict("r\(number)").stack
      let simulator = Simulator(stack: stack)
      for scene in [PAMScene.match, .rightPassword, .wrongPassword] {
        let answers = simulator.all(scene)
        let plain = simulator.outcome(answers).mayGrant
        var variations = Variations(simulator, answers)
        for index in stack.steps.indices {
          for codes in [PAMCodes.success, .failures, .anything] {
            var changed = answers
            changed[index] = codes
            let expected = simulator.outcome(changed).mayGrant
            #expect(variations.mayGrant(changing: index, to: codes) == expected, "\(written)")
            if expected != plain { differing += 1 }
          }
        }
      }
    }
    #expect(differing > 20)
  }
}
