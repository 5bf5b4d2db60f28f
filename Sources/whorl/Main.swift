internal import Glibc
internal import WhorlCommand

@main struct Main {
  static func main() {
    // The raw words: CommandLine.arguments repairs what is not UTF-8, so that two names could become one.
    let words = (1..<max(1, Int(CommandLine.argc))).map { index in
      CommandLine.unsafeArgv[index].flatMap { String(validatingCString: $0) }
    }
    exit(WhorlProgram.run(words))
  }
}
