import WhorlClient

/// What `whorl status --json` prints.
enum StatusJSON {
  static func object(_ status: WhorlStatus, _ wiring: PAMWiring) -> JSONText {
    .object([
      .init("version", .text(status.version)), .init("private", .flag(status.isPrivate)),
      .init("readers", .list(status.readers.map(reader))),
      .init("unlistedReaders", .list(status.unlisted.map(unlisted))),
      .init("enrolled", .texts(status.enrolled)), .init("unreadable", .texts(status.unreadable)),
      .init("unregistered", .texts(status.unregistered)), .init("biometry", .text(status.biometry)),
      .init("biometryError", optional(status.biometryError)), .init("lockedOut", .flag(status.isLockedOut)),
      .init("misses", .number(status.misses)), .init("missesAllowed", .number(status.missesAllowed)),
      .init("passcode", .text(status.passcode)), .init("passcodeDelay", .number(status.passcodeDelay)),
      .init("keybag", optional(status.keybag)), .init("recoveryKey", .flag(status.hasRecoveryKey)),
      .init("recoverableBy", .texts(status.recoverableBy)), .init("deviceKey", .text(status.deviceKey)),
      .init("deviceKeyError", optional(status.deviceKeyError)), .init("storeError", optional(status.storeError)),
      .init("home", optional(status.homeKeeper)), .init("homeLocked", .flag(status.isHomeLocked)),
      .init("formerName", status.formerName.map(JSONText.text) ?? .null), .init("agent", optional(status.agent)),
      .init("agentProgram", optional(status.agentProgram)),
      .init("agentProcess", status.agentProcess.map { .number(Int64($0)) } ?? .null),
      .init("logins", .texts(wiring.services)),
      .init("loginRefusals", .list(status.loginRefusals.map(refusal))),
    ])
  }

  private static func refusal(_ refusal: WhorlStatus.LoginRefusal) -> JSONText {
    .object([.init("service", .text(refusal.service)), .init("reason", .text(refusal.reason))])
  }

  private static func reader(_ reader: WhorlStatus.Reader) -> JSONText {
    .object([
      .init("name", .text(reader.name)), .init("driver", .text(reader.driver)),
      .init("scanType", .text(reader.scanType)), .init("trusted", .flag(reader.isTrusted)),
      .init("state", .text(reader.state)), .init("stateDetail", optional(reader.stateDetail)),
      .init("enrolled", .texts(reader.enrolled)), .init("chipLost", .texts(reader.chipLost)),
      .init("chipForeign", .number(reader.chipForeign)),
    ])
  }

  private static func unlisted(_ reader: WhorlStatus.UnlistedReader) -> JSONText {
    .object([
      .init("usbID", .text(reader.usbID)), .init("supported", .flag(reader.isSupported)),
      .init("node", .text(reader.node)),
    ])
  }

  /// What is not there is null.
  private static func optional(_ text: String) -> JSONText { text.isEmpty ? .null : .text(text) }
}
