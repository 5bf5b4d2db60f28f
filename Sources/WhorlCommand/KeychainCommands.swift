import GLibLoop
import SecretMemory
import WhorlClient

/// Looking at a whole keychain, and new keys for it.
extension Commands {
  private static let subject = "keychain"
  private static let tries = 3

  func checkKeychain() async throws(CommandFailure) {
    let report: WhorlKeychainReport
    do throws(WhorlError) { report = try await service.checkKeychain() } catch {
      throw await secretFailure(error, Self.subject)
    }
    if isJSON {
      let object = JSONText.object([
        .init("items", .number(report.items)), .init("whole", .number(report.whole)),
        .init("unread", .number(report.unread)), .init("gone", .number(report.lost)),
        .init("problemCount", .number(report.problemCount)), .init("problems", .texts(report.problems)),
      ])
      try await console.print(object.line)
    } else {
      var parts = ["\(report.whole) whole"]
      if report.unread > 0 { parts.append("\(report.unread) locked and not looked at") }
      if report.lost > 0 { parts.append("\(report.lost) gone as they should be") }
      try await console.print("\(report.items) secret\(report.items == 1 ? "" : "s"): \(parts.joined(separator: ", "))")
      for problem in report.problems { try await console.print("  \(Escaping.shown(problem, limit: 400))") }
    }
    guard report.problemCount == 0 else {
      throw CommandFailure(
        .storeUnavailable,
        "\(Self.subject): \(report.problemCount) thing\(report.problemCount == 1 ? " is" : "s are") damaged; "
          + "restore it from a backup, or remove what is named and store it again")
    }
  }

  func rekey() async throws(CommandFailure) {
    guard console.hasTerminal else {
      throw CommandFailure(
        .noTerminal, "\(Self.subject): your password is needed and there is no terminal to ask on; run whorl on one")
    }
    let status: WhorlStatus
    do throws(WhorlError) { status = try await service.status() } catch { throw failure(error, Self.subject) }
    if let obstacle = PasscodeDialog.obstacle(status, Self.subject) { throw obstacle }
    if status.hasRecoveryKey { await console.tell("The recovery key ends with this; make another one afterwards.") }
    let context: WhorlContext
    do throws(WhorlError) { context = try await service.openContext(promptsItself: true) } catch {
      throw failure(error, Self.subject)
    }
    do throws(CommandFailure) {
      let count = try await rekey(in: context)
      await console.tell("\(count) secret\(count == 1 ? " is" : "s are") under new keys.")
    } catch {
      await service.closeContext(context)
      throw error
    }
    await service.closeContext(context)
  }

  private func rekey(in context: WhorlContext) async throws(CommandFailure) -> Int {
    var left = Self.tries
    while true {
      let passcode = try await console.ask("Your password, to encrypt your secrets anew: ")
      guard passcode.count > 0 else {
        throw CommandFailure(.cancelled, "\(Self.subject): no password given, so nothing was changed; run it again")
      }
      do throws(WhorlError) { return try await service.rekey(passcode: passcode, in: context) } catch {
        left -= 1
        guard error.code == .authenticationFailed, left > 0 else { throw failure(error, Self.subject) }
        await console.tell("That is not your password; try again.")
      }
    }
  }
}
