internal import Bus
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain
internal import KeychainArchive
internal import SecretMemory

extension KeychainFace {
  /// Export.
  func export(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    let passphrase = RepeatedSecret(
      try CallFrame.secret(call, call.arguments[1], limit: ArchiveLimits.passphraseBytes))
    let request = try VerificationRequest(call.arguments[2])
    let subject = PromptSubject(
      context: try CallFrame.context(call.arguments[0]), deed: .export, reason: request.reason)
    return try await frame.withPrompts(request, for: caller, about: subject) { scope, progress in
      // A file for each attempt: what one that failed has left is nothing.
      let file: Int32
      do { file = try MemoryFile.make(name: "whorl-export") } catch {
        throw BusMethodError.whorl("Failed", "The export cannot be made: \(error)")
      }
      do {
        let summary = try await self.enclave.export(
          scope.context, owner: scope.owner, into: file, passphrase: try passphrase.copy(), options: request.options,
          progress: progress)
        try MemoryFile.seal(file)
        return BusAnswer([.handle(0), .options(Self.values(summary))], descriptors: [file])
      } catch {
        close(file)
        throw error
      }
    }
  }

  private static func values(_ summary: ExportSummary) -> [String: BusValue] {
    [
      "exported": summary.exported, "this-device-only": summary.thisDeviceOnly,
      "application-password": summary.applicationPassword, "private-keys": summary.privateKeys,
      "gone": summary.gone, "unreadable": summary.unreadable,
    ].mapValues { .uint32(UInt32(clamping: $0)) }
  }

  /// Import.
  func importItems(_ call: BusCall, _ caller: Caller) async throws -> BusAnswer {
    let context = try CallFrame.context(call.arguments[0])
    let passphrase = RepeatedSecret(
      try CallFrame.secret(call, call.arguments[1], limit: ArchiveLimits.passphraseBytes))
    var options = try StrictOptions(call.arguments[3], what: "option")
    let plan = try Self.plan(&options)
    let request = try VerificationRequest(&options)
    try options.finish()
    // Kept open by the call until this returns.
    let file = try call.descriptor(call.arguments[2]).withDescriptor { $0 }
    do { _ = try MemoryFile.size(file, limit: ArchiveLimits.fileBytes) } catch .tooLarge(let limit) {
      throw BusMethodError.whorl("TooLarge", "The export file has more than \(limit) bytes, which is the most.")
    } catch {
      throw BusMethodError.whorl("Param", "The export file that came along cannot be taken: \(error)")
    }
    let subject = PromptSubject(context: context, deed: .importItems, reason: request.reason)
    let summary = try await frame.withPrompts(request, for: caller, about: subject) { scope, progress in
      try await self.enclave.importItems(
        scope.context, owner: scope.owner, from: file, passphrase: try passphrase.copy(), plan: plan,
        options: request.options, progress: progress)
    }
    let counts = [summary.added, summary.skipped, summary.replaced]
    return BusAnswer(counts.map { .uint32(UInt32(clamping: $0)) })
  }

  private static func plan(_ options: inout StrictOptions) throws -> ImportPlan {
    let word = try options.text("existing") ?? ExistingItems.refuse.rawValue
    guard let existing = ExistingItems(rawValue: word) else {
      throw BusMethodError.whorl("Param", "The option \"existing\" is \"refuse\", \"skip\" or \"replace\".")
    }
    return ImportPlan(existing: existing, accessControl: try ItemCoding.accessControl(&options))
  }
}
