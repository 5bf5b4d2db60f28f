internal import Glibc
import GLibLoop
import KeychainArchive
import SecretMemory
import WhorlClient

extension Commands {
  /// `whorl export`.
  func export(_ order: ExportOrder) async throws(CommandFailure) {
    let isOutput = order.file == "-"
    let subject = isOutput ? "the export" : Escaping.quoted(order.file)
    if isOutput, console.outputIsTerminal {
      throw CommandFailure(.usage, "an export is nothing for a terminal; name a file, or redirect standard output")
    }
    // Begun before anybody is asked for anything: nobody types and touches for nothing.
    let target = isOutput ? nil : try OutputFile(order.file, overwrites: order.overwrites)
    let passphrase = try await PassphraseDialog(console: console).new(from: order.passphrase)
    let authorization = try await Authorization.open(
      reason: "export all your secrets", subject: subject,
      constraints: Requirement.passcode.constraints + Requirement.any.constraints, console, service,
      explain: { await secretFailure($0, $1) })
    let result: WhorlExport
    do throws(CommandFailure) {
      result = try await authorization.run { context, reason, progress throws(WhorlError) in
        try await service.exportItems(under: passphrase, in: context, reason: reason, progress: progress)
      }
    } catch {
      await authorization.close()
      throw error
    }
    await authorization.close()
    let memory = result.file.withDescriptor { $0 }
    let code = try await DescriptorIO.write(memory: memory, to: target?.descriptor ?? console.outputDescriptor)
    if let code {
      // Whoever read the output has gone: no news for anybody.
      if isOutput, code == EPIPE { throw CommandFailure(.failed, "") }
      throw CommandFailure(
        .failed, "\(subject) could not be written: \(SystemText.error(code)); choose another place")
    }
    try target?.finish()
    for line in BackupTexts.exported(result, isOutput ? "standard output" : subject) { await console.tell(line) }
    guard result.unreadable == 0 else {
      throw CommandFailure(
        .failed,
        "\(BackupTexts.secrets(result.unreadable)) could not be read and \(result.unreadable == 1 ? "is" : "are") not in "
          + "\(isOutput ? "the export" : subject); journalctl -u whorld says which")
    }
  }

  /// `whorl import`.
  func importFile(_ order: ImportOrder) async throws(CommandFailure) {
    let subject = ImportSource.subject(of: order)
    var source = try await ImportSource.read(order, console)
    var plan = WhorlImportPlan(existing: order.existing)
    if order.format != .archive {
      plan.constraints = (order.requirement ?? .presence).constraints.map { WhorlConstraint(rawValue: $0) }
      plan.protection = order.accessible.map { WhorlProtection(rawValue: $0.rawValue) }
    }
    let isList = source.passphrase != nil
    var triesLeft = isList || order.passphrase != nil ? 1 : 3
    while true {
      triesLeft -= 1
      let passphrase: SecretBytes
      if let known = source.passphrase.take() {
        passphrase = known
      } else {
        passphrase = try await PassphraseDialog(console: console).existing(for: subject, from: order.passphrase)
      }
      do throws(CommandFailure) {
        let result = try await send(source.file, passphrase, plan, subject)
        for line in BackupTexts.imported(result, order) { await console.tell(line) }
        return
      } catch {
        guard error.code == .authenticationFailed, error.message.isEmpty else { throw error }
        guard triesLeft > 0 else {
          throw CommandFailure(
            .authenticationFailed,
            "\(subject): the passphrase is not the export file's; nothing was imported, try again")
        }
        await console.tell("That is not the passphrase of \(subject); try again.")
      }
    }
  }

  /// - Throws: a failure without a message where the passphrase is wrong.
  private func send(
    _ file: WhorlFile, _ passphrase: borrowing SecretBytes, _ plan: WhorlImportPlan, _ subject: String
  ) async throws(CommandFailure) -> WhorlImported {
    let authorization = try await Authorization.open(
      reason: "replace secrets of yours", subject: subject, constraints: [], console, service,
      explain: { await importFailure($0, $1) })
    let result: WhorlImported
    do throws(CommandFailure) {
      result = try await authorization.run { context, reason, progress throws(WhorlError) in
        try await service.importItems(
          from: file, under: passphrase, plan, in: context, reason: reason, progress: progress)
      }
    } catch {
      await authorization.close()
      throw error
    }
    await authorization.close()
    return result
  }

  private func importFailure(_ problem: WhorlError, _ subject: String) async -> CommandFailure {
    switch problem.code {
    case .wrongPassphrase where !Task.isCancelled: return CommandFailure(.authenticationFailed, "")
    case .duplicateItem:
      let (what, _) = Escaping.parts(Escaping.clause(problem.message, limit: 400))
      let said = what.isEmpty ? "some of the secrets exist" : what
      return CommandFailure(
        .failed,
        "\(subject): \(said); nothing was imported: leave what exists with --skip-existing, or put the file's in its "
          + "place with --replace")
    case .notArchive: return ImportSource.notArchive(.notAnExportFile, subject)
    default: return await secretFailure(problem, subject)
    }
  }
}
