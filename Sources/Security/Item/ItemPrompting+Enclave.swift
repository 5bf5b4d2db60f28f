internal import WhorlClient

extension ItemPrompting {
  /// The way to the enclave: that of the query's context, or the process's.
  var transport: any BlockingTransport { context?.transport ?? WhorlEnclave.transport }

  /// How the user is asked.
  var prompt: WhorlPrompt { WhorlPrompt(reason: promptReason, interactionNotAllowed: forbidsInteraction) }

  /// Runs `body` in the query's context, or in one of this call's own, in which nothing counts for anything else.
  func withContext<R: ~Copyable>(
    _ transport: any BlockingTransport, _ body: (WhorlContext) throws(WhorlError) -> R
  ) throws(WhorlError) -> R {
    if let context { return try context.withEnclaveContext(body) }
    let context = try transport.createContext(reuseSeconds: 0)
    defer { transport.invalidate(context) }
    return try body(context)
  }
}
