import GLibLoop
import WhorlClient

/// The commands, over a console, a daemon and a machine that are handed in.
@GLibActor
struct Commands {
  let console: any Console
  let surroundings: Surroundings
  /// The daemon; it connects when a command first asks something of it.
  let service: any Service
  /// Whether what is printed is JSON.
  var isJSON = false

  /// Parses the words after the program's name, does what they say, and tells on standard error what went wrong.
  ///
  /// - Parameter words: nil for one that is not UTF-8.
  func run(_ words: [String?]) async -> ExitCode {
    var texts: [String] = []
    var invocation: Invocation?
    do throws(CommandFailure) {
      for (index, word) in words.enumerated() {
        guard let word else { throw CommandFailure(.usage, "argument \(index + 1) is not UTF-8; spell it differently") }
        texts.append(word)
      }
      let parsed = try InvocationParser.parse(texts)
      invocation = parsed
      service.onAuthorizing { [console] in
        Task { @GLibActor in await console.tell("polkit asks for a password before this goes on; answer its dialog.") }
      }
      return try await perform(parsed)
    } catch {
      var error = error
      if error == .cancelled, let invocation {
        error = CancelTexts.failure(invocation, texts, sudo: invoker != nil)
      }
      if !error.message.isEmpty { await console.complain(error.message) }
      return error.code
    }
  }

  private func perform(_ invocation: Invocation) async throws(CommandFailure) -> ExitCode {
    switch invocation {
    case .json(let invocation):
      var commands = self
      commands.isJSON = true
      return try await commands.perform(invocation)
    case .help(let verb): try await console.print(HelpTexts.text(for: verb))
    case .version: try await console.print("whorl \(Version.current)")
    case .status: return try await status()
    case .enroll(let finger, let user): try await enroll(finger, for: user)
    case .verify(let finger, let user): try await verify(finger, for: user)
    case .fingers(let user): try await fingers(of: user)
    case .delete(let finger, let user, let confirmed): try await delete(finger, of: user, confirmed: confirmed)
    case .set, .get, .list, .listAll, .remove, .removeOfApp, .export, .importFile, .unlock, .lock, .recover,
      .recoveryKey, .keychain, .keyring:
      try await performOnSecrets(invocation)
    case .adopt, .readerList, .readerTrust, .readerDistrust: try await performOnSecrets(invocation)
    case .key: try await performOnSecrets(invocation, called: "keys")
    case .forget(let target, let confirmed): return try await forget(target, confirmed: confirmed)
    case .renameUser(let old, let new): try await renameUser(from: old, to: new)
    case .log: try await log()
    case .pam(let invocation): try await perform(invocation)
    case .agent(let order): try await agent(order)
    }
    return .ok
  }

  private func performOnSecrets(_ invocation: Invocation, called what: String = "secrets") async throws(CommandFailure)
  {
    let invoker = invoker
    if let invoker {
      await console.tell(
        "This is about root's \(what), for it runs under sudo; for those of \(Escaping.shown(invoker, limit: 64)) leave "
          + "out sudo.")
    }
    do throws(CommandFailure) {
      switch invocation {
      case .set(let name, let requirement, let accessible): try await set(name, requirement, accessible)
      case .get(let name): try await get(name)
      case .list: try await list()
      case .listAll: try await listAll()
      case .remove(let name): try await remove(name)
      case .removeOfApp(let order): try await remove(order)
      case .export(let order): try await export(order)
      case .importFile(let order): try await importFile(order)
      case .adopt(let fingers): try await adopt(fingers)
      case .readerList: try await listReaders()
      case .readerTrust(let id): try await trustReader(id)
      case .readerDistrust(let which): try await distrustReader(which)
      case .key(let invocation): try await perform(invocation)
      case .unlock(let recovery): try await unlock(withRecoveryKey: recovery)
      case .lock: try await lock()
      case .keyring(let deed): try await keyring(deed)
      case .keychain(.check): try await checkKeychain()
      case .keychain(.rekey): try await rekey()
      case .recover(let recovery): try await recover(withRecoveryKey: recovery)
      case .recoveryKey(let deed): try await recoveryKey(deed)
      default: break
      }
    } catch {
      throw invoker == nil ? error : CommandFailure(error.code, Hints.aboutRoot(error.message))
    }
  }

  /// Whether the command runs as root, whom whorld tells about other accounts.
  var isRoot: Bool { surroundings.effectiveUser == 0 }

  /// The failure for a problem; once the command itself was cancelled, that is all there is to say.
  func failure(_ problem: WhorlError, _ subject: String) -> CommandFailure {
    Task.isCancelled ? .cancelled : problem.failure(about: subject)
  }
}
