internal import Bus
internal import Enclave
internal import GLibLoop
internal import Glibc
internal import Keychain
internal import KeychainArchive
internal import SecretMemory

extension KeychainFace {
  /// Export.
  func export(_ call: BusCall, _ caller: Caller, _ owner: ContextOwner) async throws -> BusAnswer {
    let context = try CallFrame.context(call.arguments[0])
    let passphrase = try CallFrame.secret(call, call.arguments[1], limit: ArchiveLimits.passphraseBytes)
    let request = try VerificationRequest(call.arguments[2])
    try await frame.requireUsableAccount(caller)
    let file: Int32
    do { file = try MemoryFile.make(name: "whorl-export") } catch {
      throw BusMethodError.whorl("Failed", "The export cannot be made: \(error)")
    }
    let signals = ProgressSignals(bus: frame.bus, receiver: caller.connection, operation: request.operation)
    do {
      let summary = try await enclave.export(
        context, owner: owner, into: file, passphrase: passphrase, options: request.options, progress: signals.handler)
      try MemoryFile.seal(file)
      await signals.finish()
      return BusAnswer([.handle(0), .options(Self.values(summary))], descriptors: [file])
    } catch {
      close(file)
      await signals.finish()
      throw error
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
  func importItems(_ call: BusCall, _ caller: Caller, _ owner: ContextOwner) async throws -> BusAnswer {
    let context = try CallFrame.context(call.arguments[0])
    let passphrase = try CallFrame.secret(call, call.arguments[1], limit: ArchiveLimits.passphraseBytes)
    var options = try StrictOptions(call.arguments[3], what: "option")
    let plan = try Self.plan(&options)
    let request = try VerificationRequest(&options)
    try options.finish()
    try await frame.requireUsableAccount(caller)
    // Kept open by the call until this returns.
    let file = try call.descriptor(call.arguments[2]).withDescriptor { $0 }
    do { _ = try MemoryFile.size(file, limit: ArchiveLimits.fileBytes) } catch .tooLarge(let limit) {
      throw BusMethodError.whorl("TooLarge", "The export file has more than \(limit) bytes, which is the most.")
    } catch {
      throw BusMethodError.whorl("Param", "The export file that came along cannot be taken: \(error)")
    }
    let signals = ProgressSignals(bus: frame.bus, receiver: caller.connection, operation: request.operation)
    do {
      let summary = try await enclave.importItems(
        context, owner: owner, from: file, passphrase: passphrase, plan: plan, options: request.options,
        progress: signals.handler)
      await signals.finish()
      let counts = [summary.added, summary.skipped, summary.replaced]
      return BusAnswer(counts.map { .uint32(UInt32(clamping: $0)) })
    } catch {
      await signals.finish()
      throw error
    }
  }

  private static func plan(_ options: inout StrictOptions) throws -> ImportPlan {
    let word = try options.text("existing") ?? ExistingItems.refuse.rawValue
    guard let existing = ExistingItems(rawValue: word) else {
      throw BusMethodError.whorl("Param", "The option \"existing\" is \"refuse\", \"skip\" or \"replace\".")
    }
    return ImportPlan(existing: existing, accessControl: try ItemCoding.accessControl(&options))
  }
}
