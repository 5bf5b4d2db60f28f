import BiometricsVault

/// A program with accounts, on a terminal: log in with a password once, then with a finger.
@main
struct LoginFlow {
  @MainActor
  static func main() async {
    let console = Console()
    let session = Session(console: console, server: Server())
    console.say("Commands: \(Session.commands)")
    session.show()
    while let line = await console.ask(">") {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard let command = words.first else { continue }
      if command == "quit" { break }
      await session.run(command, words.dropFirst().first ?? "")
    }
    console.say("Bye.")
  }
}
