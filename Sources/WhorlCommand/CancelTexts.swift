/// What is said of a command that was ended by Ctrl-C, a signal, the end of the input at a prompt, or a no to a question.
enum CancelTexts {
  /// - Parameters:
  ///   - words: what was typed after the program's name.
  ///   - sudo: whether it runs under sudo.
  static func failure(_ invocation: Invocation, _ words: [String], sudo: Bool) -> CommandFailure {
    let typed = ((sudo ? ["sudo", "whorl"] : ["whorl"]) + words).map(word).joined(separator: " ")
    let again = typed.unicodeScalars.count > 300 ? "run the same command again" : "to try again: \(typed)"
    return CommandFailure(.cancelled, "\(deed(invocation)) was cancelled; \(again)")
  }

  /// As a shell takes it; an option stays one.
  private static func word(_ word: String) -> String {
    let operand = Escaping.operand(word)
    return word.hasPrefix("-") ? String(operand.dropFirst(3)) : operand
  }

  /// What the command does, as the beginning of a sentence.
  private static func deed(_ invocation: Invocation) -> String {
    func named(_ what: String, _ name: String) -> String { "\(what) \(Escaping.quoted(name))" }
    return switch invocation {
    case .json(let invocation): deed(invocation)
    case .help, .version: "showing the help"
    case .status: "asking for the status"
    case .enroll(let finger, _): "enrolling the \(finger.words)"
    case .verify(let finger, _): finger.map { "verifying the \($0.words)" } ?? "verifying a finger"
    case .fingers: "listing the fingers"
    case .delete(let finger, _, _): finger.map { "deleting the \($0.words)" } ?? "deleting the fingers"
    case .set(let name, _, _): named("storing the secret", name)
    case .get(let name): named("reading the secret", name)
    case .list: "listing the secrets"
    case .remove(let name): named("removing the secret", name)
    case .adopt: "letting the fingers open secrets"
    case .readerList: "listing the readers"
    case .readerTrust: "trusting a reader"
    case .readerDistrust: "trusting a reader no more"
    case .key(let invocation): deed(invocation)
    case .export: "exporting the secrets"
    case .importFile(let order): "importing \(ImportSource.subject(of: order))"
    case .unlock: "unlocking the secrets"
    case .lock: "locking the secrets"
    case .recover: "bringing the secrets back"
    case .recoveryKey(.make): "making a recovery key"
    case .recoveryKey(.replace): "making another recovery key"
    case .recoveryKey(.revoke): "taking the recovery key back"
    case .keychain(.check): "checking the keychain"
    case .keychain(.rekey): "encrypting the secrets anew"
    case .keyring(.enable): "having the finger open the login keyring"
    case .keyring(.disable): "putting the login keyring back to the password"
    case .keyring(.status): "looking at the login keyring"
    case .keyring(.unlock): "opening the login keyring"
    case .forget: "forgetting the account"
    case .renameUser(let old, _): named("renaming the account", old)
    case .agent: "serving the session"
    case .log: "showing the log"
    case .pam: "the change of PAM's files"
    }
  }

  private static func deed(_ invocation: KeyInvocation) -> String {
    switch invocation {
    case .generate(let name, _, _, _): "making the key \(Escaping.quoted(name))"
    case .list: "listing the keys"
    case .publicKey(let name, _): "showing the key \(Escaping.quoted(name))"
    case .sign(let name, _, _): "signing with the key \(Escaping.quoted(name))"
    case .delete(let name): "deleting the key \(Escaping.quoted(name))"
    }
  }
}
