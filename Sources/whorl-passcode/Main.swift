// whorl-passcode: whorld's short-lived child that asks PAM whether a passcode is right, so that other people's
// modules and their copies of it never come into whorld's own memory.
//
// usage: whorl-passcode [--] USER [--confdir DIR] < PASSCODE
//
// The passcode is all of standard input (1 to 4096 bytes, no newline of its own at the end). The exit status is
// the answer: see Verdict. --confdir, which whorld gives in private mode only, names the folder of PAM service files.

import CPAM
import Glibc
import SecretMemory

@main struct Main {
  /// The most bytes of a passcode.
  static let limit = 4096

  static func main() {
    let answer = run(Array(CommandLine.arguments.dropFirst()))
    if let problem = answer.problem {
      let line = "whorl-passcode: \(problem)\n"
      // Where nobody reads it, the exit status still says it.
      _ = write(STDERR_FILENO, line, line.utf8.count)
    }
    exit(answer.verdict.rawValue)
  }

  private static func run(_ arguments: [String]) -> (verdict: Verdict, problem: String?) {
    guard let check = check(arguments) else {
      return (.unavailable, "usage: whorl-passcode [--] USER [--confdir DIR] < PASSCODE")
    }
    // Who runs with more rights than its caller must not let the caller choose the PAM stack.
    guard check.folder == nil || getauxval(UInt(cpam_AT_SECURE)) == 0 else {
      return (.unavailable, "--confdir is not for set-user-ID programs")
    }
    do {
      try CoreDumps.forbid()
      let passcode = try readToEnd(STDIN_FILENO, limit: limit)
      return check.verdict(on: passcode)
    } catch .tooLarge {
      return (.unavailable, "the passcode has more than \(limit) bytes; no account has such a one")
    } catch {
      return (.unavailable, "\(error)")
    }
  }

  private static func check(_ arguments: [String]) -> PasscodeCheck? {
    // After two dashes a name may begin with one.
    let isMarked = arguments.first == "--"
    let arguments = Array(arguments.dropFirst(isMarked ? 1 : 0))
    guard let user = arguments.first, !user.isEmpty, user.utf8.count <= 255, isMarked || !user.hasPrefix("-") else {
      return nil
    }
    switch arguments.dropFirst() {
    case []: return PasscodeCheck(user: user, folder: nil)
    case let rest where rest.count == 2 && rest.first == "--confdir" && rest.last?.hasPrefix("/") == true:
      return PasscodeCheck(user: user, folder: rest.last)
    default: return nil
    }
  }
}
