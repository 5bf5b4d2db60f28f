import GLibLoop
import WhorlClient

extension Commands {
  func enroll(_ finger: FingerName, for option: String?) async throws(CommandFailure) {
    let user = try TargetUser.find(option: option, in: surroundings)
    // Before anybody is asked for a touch it is known that there is a reader and that it is ours.
    let reader = try await readers()[0]
    // Nobody enrols while fingers are locked out.
    let passcode = try await endLockout(of: user, lasting: Self.registrationSeconds)
    // Nobody touches the reader for a print that could not be registered.
    if let trouble = await storeTrouble(of: user) { throw trouble }
    let replaces = try await enrolled(user, reader).contains(finger.name)
    // Without a password in it nothing is destroyed, unless the finger that is replaced was one of those that count.
    if user.isCaller || replaces { try await warnOfBoundSecrets(user) }
    let registration = try await offerRegistration(of: finger, user, given: passcode)
    do throws(CommandFailure) {
      try await enroll(finger, user, reader, replaces: replaces, registration)
    } catch {
      await end(registration)
      throw error
    }
    await end(registration)
  }

  private func enroll(
    _ finger: FingerName, _ user: TargetUser, _ reader: ReaderListing, replaces: Bool, _ registration: Registration
  ) async throws(CommandFailure) {
    try await claimed(reader, for: user) { reader async throws(CommandFailure) in
      let deed = replaces ? "Enrolling anew" : "Enrolling"
      await console.tell("\(deed) the \(finger.words) of \(user.shown) on \(Escaping.shown(reader.name, limit: 64)).")
      if replaces {
        await console.tell(
          "The new print replaces the old one; if it does not pass the check at the end, the finger is not enrolled any more."
        )
      }
      try await scan(finger, reader, user)
      try await confirm(finger, user, reader, replaces: replaces)
      // Under the claim, so that nobody puts another print in its place before.
      let remark = try await register(finger, reader, registration)
      await console.tell("The \(finger.words) of \(user.shown) is enrolled.")
      if let remark { await console.tell(remark) }
    }
  }

  private func scan(
    _ finger: FingerName, _ reader: ReaderListing, _ user: TargetUser
  ) async throws(CommandFailure) {
    let times = reader.stages.map { ", \($0) times" } ?? ""
    await console.tell("\(RetryTexts.touch(reader.scanType))\(times), a little differently each time.")
    let story = ScanStory(console, scanType: reader.scanType, stages: reader.stages)
    do throws(WhorlError) {
      try await service.enroll(finger.name, on: reader) { story.take($0) }
      await story.told()
    } catch {
      await story.told()
      if story.verdict == nil || Task.isCancelled { throw await refusal(error, finger.words, user, reader) }
    }
    do throws(CommandFailure) {
      _ = try story.outcome(of: "enroll")
    } catch {
      if story.readerFailed { throw await readerTrouble(reader, error) }
      // The interface has no room for which finger, or what to delete: whorld says it when asked.
      guard story.mayBeExplained else { throw error }
      let why = Escaping.clause(await service.explainEnrollment(on: reader))
      throw why.isEmpty ? error : CommandFailure(error.code, "\(finger.words): \(why)")
    }
  }

  /// A print that does not match the finger it was made of is worse than none: it goes again.
  private func confirm(
    _ finger: FingerName, _ user: TargetUser, _ reader: ReaderListing, replaces: Bool
  ) async throws(CommandFailure) {
    await console.tell("\(RetryTexts.touch(reader.scanType)) once more to check it.")
    let reason: CommandFailure
    do throws(CommandFailure) {
      if try await matches(finger.name, reader, user) { return }
      reason = CommandFailure(.authenticationFailed, "the touch did not match")
    } catch { reason = error }
    // In a task of its own, for this one may be cancelled by now.
    let problem = await Task { @GLibActor () -> WhorlError? in
      do throws(WhorlError) {
        try await service.delete(finger.name, on: reader)
        return nil
      } catch { return error }
    }.value
    if let problem {
      throw CommandFailure(
        reason.code,
        "\(finger.words): not confirmed (\(reason.message)), and the new print could not be deleted "
          + "(\(Escaping.clause(problem.message, limit: 200))); delete it: whorl delete \(finger.name)")
    }
    let loss =
      replaces ? "; the old one was replaced by it, so that this finger is now not enrolled any more" : ""
    throw CommandFailure(
      reason.code,
      "\(finger.words): not confirmed (\(reason.message)), so the new print was deleted\(loss); "
        + "run whorl enroll \(finger.name) again")
  }
}
