internal import Bus

extension WhorlAttributes {
  /// As an a{sv}, without those that are nil.
  var values: [String: BusValue] {
    var values: [String: BusValue] = [:]
    values["class"] = itemClass.map { .string($0) }
    values["service"] = service.map { .string($0) }
    values["account"] = account.map { .string($0) }
    values["access-group"] = accessGroup.map { .string($0) }
    values["label"] = label.map { .string($0) }
    values["description"] = itemDescription.map { .string($0) }
    values["comment"] = comment.map { .string($0) }
    values["creator"] = creator.map { .uint32($0) }
    values["type"] = type.map { .uint32($0) }
    values["generic"] = generic.map { .bytes($0) }
    values["invisible"] = isInvisible.map { .boolean($0) }
    values["negative"] = isNegative.map { .boolean($0) }
    values["synchronizable"] = isSynchronizable.map { .boolean($0) }
    values["server"] = server.map { .string($0) }
    values["port"] = port.map { .uint32($0) }
    values["protocol"] = protocolType.map { .uint32($0) }
    values["path"] = path.map { .string($0) }
    values["authentication-type"] = authenticationType.map { .uint32($0) }
    values["security-domain"] = securityDomain.map { .string($0) }
    values["key-class"] = keyClass.map { .string($0) }
    values["key-type"] = keyType.map { .string($0) }
    values["application-label"] = applicationLabel.map { .bytes($0) }
    values["application-tag"] = applicationTag.map { .bytes($0) }
    values["key-size"] = keySize.map { .uint32($0) }
    values["effective-key-size"] = effectiveKeySize.map { .uint32($0) }
    values["persistent-reference"] = persistentReference.map { .bytes($0) }
    return values
  }

  /// What the daemon said; keys that are missing or of another type are nil.
  init(_ values: [String: BusValue]) {
    self.init()
    itemClass = values["class"]?.asString
    service = values["service"]?.asString
    account = values["account"]?.asString
    accessGroup = values["access-group"]?.asString
    label = values["label"]?.asString
    itemDescription = values["description"]?.asString
    comment = values["comment"]?.asString
    creator = values["creator"]?.asUInt32
    type = values["type"]?.asUInt32
    generic = values["generic"]?.asBytes
    isInvisible = values["invisible"]?.asBool
    isNegative = values["negative"]?.asBool
    isSynchronizable = values["synchronizable"]?.asBool
    server = values["server"]?.asString
    port = values["port"]?.asUInt32
    protocolType = values["protocol"]?.asUInt32
    path = values["path"]?.asString
    authenticationType = values["authentication-type"]?.asUInt32
    securityDomain = values["security-domain"]?.asString
    keyClass = values["key-class"]?.asString
    keyType = values["key-type"]?.asString
    applicationLabel = values["application-label"]?.asBytes
    applicationTag = values["application-tag"]?.asBytes
    keySize = values["key-size"]?.asUInt32
    effectiveKeySize = values["effective-key-size"]?.asUInt32
    persistentReference = values["persistent-reference"]?.asBytes
  }
}

extension WhorlItem {
  init(_ values: [String: BusValue]) {
    self.init()
    attributes = WhorlAttributes(values)
    constraints = (values["constraints"]?.asStrings ?? []).map(WhorlConstraint.init)
    protection = values["protection"]?.asString ?? ""
    created = values["created"]?.asInt64 ?? 0
    modified = values["modified"]?.asInt64 ?? 0
    isInvalidated = values["state"]?.asString == "invalidated"
    isPasscodeRemoved = values["state"]?.asString == "passcode-removed"
  }
}

extension WhorlAccessControl {
  /// As options of Add and Update.
  var values: [String: BusValue] {
    ["protection": .string(protection.rawValue), "constraints": .strings(constraints.map(\.rawValue))]
  }
}

extension WhorlKeychainReport {
  init(_ values: [String: BusValue]) {
    func number(_ key: String) -> Int { Int(values[key]?.asUInt32 ?? 0) }
    self.init()
    items = number("items")
    whole = number("whole")
    unread = number("unread")
    lost = number("lost")
    problems = (values["problems"]?.asStrings ?? []).prefix(100).map(printable)
    problemCount = max(number("problem-count"), problems.count)
  }
}

extension WhorlProgress {
  init(_ event: String, _ details: [String: BusValue]) {
    func text(_ key: String) -> String { printable(details[key]?.asString ?? "") }
    switch event {
    case "queued": self = .queued
    case "waiting":
      self = .waiting(
        reader: text("reader"), scanType: text("scan-type"),
        fingers: (details["fingers"]?.asStrings ?? []).prefix(10).map(printable))
    case "retry": self = .retry(reason: text("reason"))
    case "no-match": self = .noMatch(triesLeft: Int(details["tries-left"]?.asUInt32 ?? 0))
    case "matched": self = .matched(finger: text("finger"))
    default: self = .other(event: printable(event))
    }
  }
}

extension WhorlStatus {
  init(_ values: [String: BusValue]) {
    func text(_ key: String) -> String { printable(values[key]?.asString ?? "") }
    func fingers(_ key: String) -> [String] { (values[key]?.asStrings ?? []).prefix(10).map(printable) }
    self.init()
    version = text("version")
    isPrivate = values["private"]?.asBool ?? false
    deviceKey = text("device-key")
    deviceKeyError = text("device-key-error")
    storeError = text("store-error")
    readers = (values["readers"]?.asArray ?? []).prefix(64).compactMap { $0.asOptions.map(Reader.init) }
    unlisted = (values["unlisted"]?.asArray ?? []).prefix(16).compactMap { $0.asOptions.map(UnlistedReader.init) }
    formerPrints = values["former-prints"]?.asUInt32
    formerName = values["former-name"]?.asString.map(printable)
    enrolled = fingers("enrolled")
    unreadable = fingers("unreadable")
    unregistered = fingers("unregistered")
    biometry = text("biometry")
    // An older daemon has no key for it.
    isLockedOut = values["locked-out"]?.asBool ?? (biometry == "locked-out")
    biometryError = text("biometry-error")
    biometrySet = values["biometry-set"]?.asBytes ?? []
    misses = Int(values["misses"]?.asUInt32 ?? 0)
    missesAllowed = Int(values["misses-allowed"]?.asUInt32 ?? 0)
    passcode = text("passcode")
    passcodeDelay = Int(values["passcode-delay"]?.asUInt32 ?? 0)
    keybag = text("keybag")
    hasRecoveryKey = values["recovery-key"]?.asBool ?? false
    agent = text("agent")
    agentProgram = text("agent-program")
    agentProcess = values["agent-pid"]?.asUInt32
    homeKeeper = text("home")
    isHomeLocked = values["home-locked"]?.asBool ?? false
    recoverableBy = (values["recoverable-by"]?.asStrings ?? []).prefix(4).map(printable)
    loginRefusals = (values["login-refusals"]?.asArray ?? []).prefix(16).compactMap { entry in
      guard let entry = entry.asOptions else { return nil }
      return LoginRefusal(
        service: printable(entry["service"]?.asString ?? ""), reason: printable(entry["reason"]?.asString ?? ""))
    }
  }
}

extension WhorlStatus.Reader {
  init(_ values: [String: BusValue]) {
    self.init()
    name = printable(values["name"]?.asString ?? "")
    driver = printable(values["driver"]?.asString ?? "")
    scanType = printable(values["scan-type"]?.asString ?? "")
    path = values["path"]?.asObjectPath ?? ""
    isTrusted = values["trusted"]?.asBool ?? false
    state = printable(values["state"]?.asString ?? "")
    stateDetail = printable(values["state-detail"]?.asString ?? "")
    enrolled = (values["enrolled"]?.asStrings ?? []).prefix(10).map(printable)
    chipLost = (values["chip-lost"]?.asStrings ?? []).prefix(10).map(printable)
    chipForeign = Int(values["chip-foreign"]?.asUInt32 ?? 0)
  }
}

extension WhorlStatus.UnlistedReader {
  init(_ values: [String: BusValue]) {
    self.init()
    usbID = printable(values["usb-id"]?.asString ?? "")
    isSupported = values["supported"]?.asBool ?? false
    node = printable(values["node"]?.asString ?? "")
  }
}

extension WhorlAccountStatus {
  init(_ values: [String: BusValue]) {
    self.init()
    hasAccount = values["account"]?.asBool ?? false
    formerName = values["former-name"]?.asString.map(printable)
    isLockedOut = values["locked-out"]?.asBool ?? false
    misses = Int(values["misses"]?.asUInt32 ?? 0)
    missesAllowed = Int(values["misses-allowed"]?.asUInt32 ?? 0)
    storeError = values["store-error"]?.asString.map(printable) ?? ""
    boundSecrets = Int(values["bound-secrets"]?.asUInt32 ?? 0)
  }
}

extension WhorlForgotten {
  init(_ values: [String: BusValue]) {
    func number(_ key: String) -> Int { Int(values[key]?.asUInt32 ?? 0) }
    self.init()
    items = number("items")
    keychains = number("keychains")
    unreadKeychains = number("unread-keychains")
    prints = number("prints")
    chipPrints = number("chip-prints")
    remains = (values["remains"]?.asStrings ?? []).prefix(100).map(printable)
    absentReaders = (values["absent-readers"]?.asStrings ?? []).prefix(100).map(printable)
  }
}

extension WhorlRenamed {
  init(_ values: [String: BusValue]) {
    self.init()
    keychain = values["keychain"]?.asBool ?? false
    prints = values["prints"]?.asBool ?? false
  }
}
