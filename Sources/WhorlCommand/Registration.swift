import GLibLoop
import WhorlClient

/// Whether the finger that is being enrolled is to open secrets, too.
enum Registration: Sendable {
  /// The password was given to this context.
  case passcode(WhorlContext)
  /// It opens logins alone; what to tell about that at the end.
  case none(String)
}

extension Commands {
  /// The seconds that an enrolment may take until its password has to be given once more.
  static let registrationSeconds: UInt32 = 300

  /// Asks, before the first touch, for the password that lets a new finger open secrets. Where it cannot be asked for, or
  /// is not given, the finger is enrolled for logins.
  /// - Parameter given: where it was given already, to end a lockout: nobody is asked twice.
  func offerRegistration(
    of finger: FingerName, _ user: TargetUser, given: WhorlContext?
  ) async throws(CommandFailure) -> Registration {
    if let given {
      await console.tell("With your password given, the new finger will open your secrets, too.")
      return .passcode(given)
    }
    guard user.isCaller else {
      return .none(
        "It opens logins; before it opens a secret, \(user.shown) has to give the login password: whorl adopt (without "
          + "sudo).")
    }
    let remark = "It opens logins, but no secret before your password was given for it"
    guard let status = try? await service.status() else { return .none("\(remark): whorl adopt") }
    if status.passcode == "not-set" {
      return .none("\(remark), and your account has none: set one with passwd, then run whorl adopt")
    }
    guard console.hasTerminal, status.passcodeDelay == 0 else { return .none("\(remark): whorl adopt") }
    let context: WhorlContext
    do throws(WhorlError) {
      context = try await service.openContext(promptsItself: true, lasting: Self.registrationSeconds)
    } catch {
      throw failure(error, finger.words)
    }
    do throws(CommandFailure) {
      let isGiven = try await PasscodeDialog(console: console, service: service)
        .provide(
          to: context, for: "let this finger open your secrets", subject: finger.words, skip: "for logins only")
      if isGiven { return .passcode(context) }
    } catch {
      await service.closeContext(context)
      throw error
    }
    await service.closeContext(context)
    return .none("\(remark): whorl adopt")
  }

  /// Registers the finger that was just enrolled, where the password was given for it.
  /// - Returns: what to tell about it.
  func register(
    _ finger: FingerName, _ reader: ReaderListing, _ registration: Registration
  ) async throws(CommandFailure) -> String? {
    switch registration {
    case .none(let remark): return remark
    case .passcode(let context):
      do throws(WhorlError) {
        return untrusted(try await service.adopt([finger.name], on: reader, in: context))
      } catch {
        if Task.isCancelled { throw .cancelled }
        let why =
          error.code == .passcodeNeeded ? "it took too long" : Escaping.parts(Escaping.clause(error.message)).what
        throw CommandFailure(
          error.exitCode,
          "\(finger.words): enrolled for logins, but not for secrets (\(why)); give your password again: whorl adopt "
            + finger.name)
      }
    }
  }

  func end(_ registration: Registration) async {
    if case .passcode(let context) = registration { await service.closeContext(context) }
  }

  /// What to tell of readers that see fingers and open nothing all the same; nil where there are none.
  func untrusted(_ adoption: WhorlAdoption) -> String? {
    guard let first = adoption.untrustedReaders.first else { return nil }
    return "On \(Escaping.shown(first, limit: 64)) it opens no secret yet, for that reader is not trusted; if you know "
      + "it: whorl reader trust"
  }
}
