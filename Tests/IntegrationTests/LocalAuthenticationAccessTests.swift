import Foundation
import LocalAuthentication
import SecretMemory
import TestKit
import Testing
import WhorlClient

/// Access controls that LAContext evaluates, and passwords of a program's own.
@Suite(.timeLimit(.minutes(4))) struct LocalAuthenticationAccessTests {
  private func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
    try #require(
      SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags, nil))
  }

  private func evaluate(
    _ flags: SecAccessControlCreateFlags, for operation: LAAccessControlOperation = .useItem, in context: LAContext
  ) async throws -> LAError.Code? {
    let control = try control(flags)
    return await refusal {
      try await context.evaluateAccessControl(control, operation: operation, localizedReason: "to test")
    }
  }

  @Test func `Each constraint asks for what opens its items, and making items asks for nothing`() async throws {
    let scene = try await LocalAuthenticationScene(enrolling: .leftLoop, hasPasscode: true)
    let agent = try await DesktopAgent(
      scene.world, answers: Array(repeating: "pin \(World.passcode)", count: 9))
    let flags: [SecAccessControlCreateFlags] = [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode]
    for operation in [LAAccessControlOperation.createItem, .createKey] {
      let context = scene.context()
      for flag in flags { #expect(try await evaluate(flag, for: operation, in: context) == nil) }
    }
    let byFinger: [SecAccessControlCreateFlags] = [
      .userPresence, .biometryAny, .biometryCurrentSet, [.biometryAny, .or, .devicePasscode],
    ]
    for flag in byFinger {
      let context = scene.context()
      async let code = evaluate(flag, in: context)
      try await scene.press(.leftLoop)
      #expect(try await code == nil, "\(flag)")
      #expect(try await evaluate(flag, for: .useKeySign, in: context) == nil, "what was shown counts")
    }
    #expect(agent.pinentry.timesAsked == 0)
    let context = scene.context()
    #expect(try await evaluate(.devicePasscode, in: context) == nil)
    #expect(agent.pinentry.timesAsked == 1)
    async let both = evaluate([.biometryAny, .and, .devicePasscode], in: context)
    try await scene.press(.leftLoop, 3)
    #expect(try await both == nil)
    #expect(agent.pinentry.timesAsked == 1, "the passcode was shown before")
    #expect(try await evaluate([], in: scene.context()) == nil)
  }

  @Test func `A passcode that is not there, is declined or cannot be asked for is told apart`() async throws {
    let scene = try await LocalAuthenticationScene()
    #expect(try await evaluate(.devicePasscode, in: scene.context()) == .passcodeNotSet)
    try scene.world.setPasscode()
    #expect(try await evaluate(.devicePasscode, in: scene.context()) == .notInteractive)
    _ = try await DesktopAgent(scene.world, answers: ["cancel", "pin a", "pin b", "pin c"])
    let quiet = scene.context()
    quiet.interactionNotAllowed = true
    #expect(try await evaluate(.devicePasscode, in: quiet) == .notInteractive)
    #expect(try await evaluate(.devicePasscode, in: scene.context()) == .userCancel)
    #expect(try await evaluate(.devicePasscode, in: scene.context()) == .authenticationFailed, "three wrong ones")
    #expect(try await evaluate(.devicePasscode, in: scene.context()) == .authenticationFailed, "none is looked at now")
  }

  @Test func `A program's own password opens its items, also after a restart, until it is taken back`() async throws {
    let scene = try await LocalAuthenticationScene()
    let context = scene.context()
    let query = WhorlAttributes(itemClass: "generic-password", service: "app", account: "ada")
    let access = WhorlAccessControl(protection: .always, constraints: [.applicationPassword])
    func read() async throws -> String {
      try await offPool {
        do throws(WhorlError) {
          return try context.withEnclaveContext { number throws(WhorlError) in
            try context.transport.secret(matching: query, in: number, prompt: context.prompt(), token: nil)
          }.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        } catch { return "\(error.code)" }
      }
    }
    #expect(try await evaluate(.applicationPassword, in: context) == .notInteractive)
    #expect(!context.isCredentialSet(.applicationPassword))
    #expect(context.setCredential(Data("wrong".utf8), type: .applicationPassword))
    #expect(context.setCredential(Data("open sesame".utf8), type: .applicationPassword))
    #expect(context.isCredentialSet(.applicationPassword))
    #expect(!context.isCredentialSet(.smartCardPIN))
    #expect(!context.setCredential(Data("1234".utf8), type: .smartCardPIN))
    #expect(!context.setCredential(Data(), type: .applicationPassword))
    #expect(!context.setCredential(Data(count: 4097), type: .applicationPassword))
    #expect(try await evaluate(.applicationPassword, in: context) == nil)
    try await offPool {
      let secret = try SecretBytes(copying: Array("s3cret".utf8).span.bytes)
      try context.withEnclaveContext { number throws(WhorlError) in
        try context.transport.add(query, accessControl: access, context: number, secret: secret)
      }
    }
    #expect(try await read() == "s3cret")
    scene.daemon.signal(SIGTERM)
    _ = try await scene.daemon.wait()
    try await scene.world.startDaemon()
    #expect(try await read() == "s3cret")

    #expect(context.setCredential(Data("wrong".utf8), type: .applicationPassword))
    #expect(try await read() == "authenticationFailed")
    #expect(context.setCredential(nil, type: .applicationPassword))
    #expect(!context.isCredentialSet(.applicationPassword))
    #expect(try await read() == "applicationPasswordNeeded")
  }
}
