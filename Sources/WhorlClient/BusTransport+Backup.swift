internal import Bus
internal import GLibLoop
public import SecretMemory

extension BusTransport {
  /// Export.
  public func exportItems(
    under passphrase: borrowing SecretBytes, in context: WhorlContext, prompt: WhorlPrompt,
    progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlExport {
    let secret = try seal(passphrase)
    defer { secret.close() }
    let reply = try await prompting(in: context, prompt, progress) { (options) throws(WhorlError) in
      var options = options
      options["reason"] = .string(prompt.reason)
      return try await self.keychainCall(
        "Export", [.uint32(context.number), .handle(0), .options(options)],
        descriptors: secret.withDescriptor { [$0] }, expecting: "ha{sv}", daemon: context.daemon)
    }
    let file: Int32
    do {
      guard let taken = try reply.descriptor(reply.arguments[0]).take() else { throw BusError.closed }
      file = taken
    } catch {
      throw WhorlError(.badAnswer, "The daemon's answer came without the export file.")
    }
    var export = WhorlExport(file: WhorlFile(owning: file))
    let counts = try reply.arguments[1].options(of: "Export")
    func count(_ key: String) -> Int { Int(counts[key]?.asUInt32 ?? 0) }
    export.exported = count("exported")
    export.thisDeviceOnly = count("this-device-only")
    export.applicationPassword = count("application-password")
    export.privateKeys = count("private-keys")
    export.gone = count("gone")
    export.unreadable = count("unreadable")
    return export
  }

  /// Import.
  public func importItems(
    from file: WhorlFile, under passphrase: borrowing SecretBytes, _ plan: WhorlImportPlan, in context: WhorlContext,
    prompt: WhorlPrompt, progress: @escaping @GLibActor (WhorlProgress) -> Void
  ) async throws(WhorlError) -> WhorlImported {
    let secret = try seal(passphrase)
    defer { secret.close() }
    let reply = try await prompting(in: context, prompt, progress) { (options) throws(WhorlError) in
      var options = options
      options["reason"] = .string(prompt.reason)
      options["existing"] = .string(plan.existing.rawValue)
      if !plan.constraints.isEmpty { options["constraints"] = .strings(plan.constraints.map(\.rawValue)) }
      if let protection = plan.protection { options["protection"] = .string(protection.rawValue) }
      let descriptors = secret.withDescriptor { secret in file.withDescriptor { [secret, $0] } }
      return try await self.keychainCall(
        "Import", [.uint32(context.number), .handle(0), .handle(1), .options(options)], descriptors: descriptors,
        expecting: "uuu", daemon: context.daemon)
    }
    let counts = reply.arguments.map { Int($0.asUInt32 ?? 0) }
    var imported = WhorlImported()
    (imported.added, imported.skipped, imported.replaced) = (counts[0], counts[1], counts[2])
    return imported
  }
}
