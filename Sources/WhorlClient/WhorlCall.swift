internal import Bus
internal import SecretMemory

/// One call of the daemon's methods: what every transport over the bus sends.
struct WhorlCall {
  static let path = "/org/whorl"
  static let authentication = "org.whorl.Authentication1"
  static let keychain = "org.whorl.Keychain1"
  /// The most bytes that a secret may have on its way here.
  static let secretLimit = 16 << 20
  /// A passcode may be checked slowly, and by modules that wait on purpose; in milliseconds.
  static let passcodeTimeout = 120_000

  let interface: String
  let method: String
  let arguments: [BusValue]
  let expecting: String

  private init(_ interface: String, _ method: String, _ arguments: [BusValue] = [], expecting: String = "") {
    self.interface = interface
    self.method = method
    self.arguments = arguments
    self.expecting = expecting
  }

  // MARK: Contexts

  static let status = WhorlCall(authentication, "GetStatus", expecting: "a{sv}")

  static func createContext(reuseSeconds: UInt32, interactionNotAllowed: Bool, promptsItself: Bool) -> WhorlCall {
    var options: [String: BusValue] = [:]
    if reuseSeconds > 0 { options["reuse-duration"] = .uint32(reuseSeconds) }
    if interactionNotAllowed { options["interaction-not-allowed"] = .boolean(true) }
    if promptsItself { options["prompts-itself"] = .boolean(true) }
    return WhorlCall(authentication, "CreateContext", [.options(options)], expecting: "u")
  }

  static func invalidate(_ context: WhorlContext) -> WhorlCall {
    WhorlCall(authentication, "InvalidateContext", [.uint32(context.number)])
  }

  static func cancel(_ context: WhorlContext, _ how: WhorlCancelKind) -> WhorlCall {
    WhorlCall(authentication, "Cancel", [.uint32(context.number), .string(how.rawValue)])
  }

  static func evaluate(
    _ policy: WhorlPolicy, _ context: WhorlContext, _ reason: String, _ options: [String: BusValue]
  ) -> WhorlCall {
    WhorlCall(
      authentication, "EvaluatePolicy",
      [.uint32(context.number), .string(policy.rawValue), .string(reason), .options(options)], expecting: "as")
  }

  /// A method that takes a secret of the person's or the program's to a context.
  static func provide(_ method: String, _ context: WhorlContext) -> WhorlCall {
    WhorlCall(authentication, method, [.uint32(context.number), .handle(0)])
  }

  // MARK: Items

  static func add(
    _ attributes: WhorlAttributes, _ accessControl: WhorlAccessControl, _ context: WhorlContext?
  ) -> WhorlCall {
    WhorlCall(
      keychain, "Add", [.options(attributes.values), .options(options(accessControl, context)), .handle(0)])
  }

  private static func options(
    _ accessControl: WhorlAccessControl, _ context: WhorlContext?
  ) -> [String: BusValue] {
    var options = accessControl.values
    if let context { options["context"] = .uint32(context.number) }
    return options
  }

  static func items(
    _ query: WhorlAttributes, _ limit: UInt32, _ includingInvalidated: Bool, _ reference: [UInt8]?
  ) -> WhorlCall {
    var options: [String: BusValue] = [:]
    if limit > 0 { options["limit"] = .uint32(limit) }
    if includingInvalidated { options["invalidated"] = .boolean(true) }
    if let reference { options["after"] = .bytes(reference) }
    return WhorlCall(
      keychain, "CopyMatching", [.options(query.values), .options(options)], expecting: "aa{sv}")
  }

  static func secret(
    _ query: WhorlAttributes, _ context: WhorlContext, _ reason: String, _ options: [String: BusValue]
  ) -> WhorlCall {
    WhorlCall(
      keychain, "CopySecret",
      [.uint32(context.number), .options(query.values), .options(giving(reason, options))], expecting: "h")
  }

  static func update(
    _ query: WhorlAttributes, _ changes: WhorlAttributes, _ accessControl: WhorlAccessControl?, hasSecret: Bool,
    _ context: WhorlContext, _ reason: String, _ options: [String: BusValue]
  ) -> WhorlCall {
    let options = options.merging(accessControl?.values ?? [:]) { $1 }
    return WhorlCall(
      keychain, "Update",
      [
        .uint32(context.number), .options(query.values), .options(changes.values),
        .array(element: "h", hasSecret ? [.handle(0)] : []), .options(giving(reason, options)),
      ])
  }

  static func delete(_ query: WhorlAttributes, all: Bool) -> WhorlCall {
    WhorlCall(
      keychain, "Delete", [.options(query.values), .options(all ? ["all": .boolean(true)] : [:])], expecting: "u")
  }

  private static func giving(_ reason: String, _ options: [String: BusValue]) -> [String: BusValue] {
    options.merging(["reason": .string(reason)]) { $1 }
  }

  // MARK: Keys

  static func generateKey(
    _ attributes: WhorlAttributes, _ accessControl: WhorlAccessControl, _ context: WhorlContext?
  ) -> WhorlCall {
    WhorlCall(
      keychain, "GenerateKey", [.options(attributes.values), .options(options(accessControl, context))],
      expecting: "ay")
  }

  static func sign(
    _ query: WhorlAttributes, _ algorithm: WhorlSignatureAlgorithm, _ data: [UInt8], _ context: WhorlContext,
    _ reason: String, _ options: [String: BusValue]
  ) -> WhorlCall {
    useKey("Sign", query, algorithm.rawValue, data, context, giving(reason, options), expecting: "ay")
  }

  static func agree(
    _ query: WhorlAttributes, _ algorithm: WhorlKeyAgreementAlgorithm, _ peer: [UInt8], _ context: WhorlContext,
    _ reason: String, _ options: [String: BusValue]
  ) -> WhorlCall {
    useKey("Agree", query, algorithm.rawValue, peer, context, giving(reason, options), expecting: "h")
  }

  private static func useKey(
    _ method: String, _ query: WhorlAttributes, _ algorithm: String, _ data: [UInt8], _ context: WhorlContext,
    _ options: [String: BusValue], expecting: String
  ) -> WhorlCall {
    WhorlCall(
      keychain, method,
      [.uint32(context.number), .options(query.values), .string(algorithm), .bytes(data), .options(options)],
      expecting: expecting)
  }
}

extension WhorlPrompt {
  /// As options of a call that may prompt, but for the reason.
  var options: [String: BusValue] {
    var options: [String: BusValue] = [:]
    if let timeoutSeconds { options["timeout"] = .uint32(timeoutSeconds) }
    if let maxTries { options["max-tries"] = .uint32(maxTries) }
    if interactionNotAllowed { options["interaction-not-allowed"] = .boolean(true) }
    if offersFallback { options["fallback"] = .boolean(true) }
    return options
  }
}

extension BusValue {
  /// The a{sv} that a method has answered.
  func options(of method: String) throws(WhorlError) -> [String: BusValue] {
    guard let options = asOptions else {
      throw WhorlError(.badAnswer, "The daemon's answer makes no sense: a key comes twice in \(method).")
    }
    return options
  }
}

/// What the answers hold; their types were checked against what the call expects.
extension BusReply {
  var context: WhorlContext { WhorlContext(number: arguments[0].asUInt32 ?? 0, daemon: sender) }
  var constraints: [WhorlConstraint] { (arguments[0].asStrings ?? []).map(WhorlConstraint.init) }
  var bytes: [UInt8] { arguments[0].asBytes ?? [] }
  var count: Int { Int(arguments[0].asUInt32 ?? 0) }

  /// Of CopyMatching.
  var items: [WhorlItem] {
    get throws(WhorlError) {
      var items: [WhorlItem] = []
      for value in arguments[0].asArray ?? [] {
        items.append(WhorlItem(try value.options(of: "CopyMatching")))
      }
      return items
    }
  }

  /// The secret whose descriptor is the answer.
  func secret() throws(WhorlError) -> SecretBytes {
    let descriptor: BusDescriptor
    do { descriptor = try self.descriptor(arguments[0]) } catch {
      throw WhorlError(.badAnswer, "The daemon's answer came without the secret's descriptor.")
    }
    do {
      return try descriptor.withDescriptor { file throws(SecretMemoryError) in
        try SecretFile.take(file, limit: WhorlCall.secretLimit)
      }
    } catch .outOfMemory, .initialisationFailed {
      throw WhorlError(.secretMemory, "There is no guarded memory for the secret; raise the limit on locked memory.")
    } catch {
      throw WhorlError(.badAnswer, "The secret that came from the daemon cannot be taken: \(error)")
    }
  }
}

/// A secret on its way to the daemon; the file is closed with its owner.
func seal(_ secret: borrowing SecretBytes) throws(WhorlError) -> BusDescriptor {
  do throws(SecretMemoryError) {
    return BusDescriptor(owning: try SecretFile.seal(secret, name: "whorl"))
  } catch {
    throw WhorlError(.secretMemory, "The secret cannot be handed over: \(error)")
  }
}
