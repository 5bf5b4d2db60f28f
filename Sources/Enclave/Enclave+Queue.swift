internal import Keychain

// The way of one request to its touch. `touch` is what requests call; it waits on a continuation that `finish` resumes,
// so that whoever ends a request (the touch, a cancel, the deadline) ends the caller's wait at once, while the sensor
// takes the time it needs to let go. One request at a time has the sensor: `active`.
extension Enclave {
  /// Waits until a finger of that user was touched for this request, or its context covers it.
  func touch(
    of user: UserID, for connection: String, context: ContextID?, need: AuthenticationContext.Need, scope: MatchScope,
    options: VerificationOptions, progress: @escaping ProgressHandler
  ) async throws(EnclaveError) -> Operation.Proof {
    let count = operations.values.count { $0.user == user }
    guard count < Limits.requestsPerUser else {
      throw .busy("user \(user) has \(count) requests waiting for a finger already; let one of them end first")
    }
    if options.noWait, isSensorTaken { throw Self.sensorTaken }
    let id = newNumber()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let operation = Operation(
          id: id, user: user, connection: connection, context: context, need: need, scope: scope,
          noWait: options.noWait, offersFallback: options.offersFallback,
          deadline: clock.uptime() + Int64(options.timeout) * 1000, seconds: options.timeout,
          reporter: ProgressReporter(progress), continuation: continuation, triesLeft: options.maxTries)
        begin(operation)
      }
    } onCancel: {
      // Runs after `begin`, even where the task was cancelled before: the actor is ours until the continuation waits.
      Task { await self.finish(id, .failure(.appCancel)) }
    }
    return try result.get()
  }

  /// Ends an operation, if it did not end before: the only place that resumes its caller.
  func finish(_ id: UInt64, _ result: Result<Operation.Proof, EnclaveError>) {
    guard let operation = operations.removeValue(forKey: id) else { return }
    operation.reporter.close()
    operation.driver?.cancel()
    operation.timer?.cancel()
    queue.remove(id)
    if active?.operation == id { active?.task?.cancel() }
    operation.continuation.resume(returning: result)
  }

  /// Ends the operations that `isMeant` says.
  func endOperations(_ error: EnclaveError, where isMeant: (Operation) -> Bool) {
    for operation in operations.values.filter(isMeant) { finish(operation.id, .failure(error)) }
  }

  /// The context has the passcode now: who waits there for a finger and would take the passcode as well goes on, the
  /// oldest of them only where the passcode is a ticket for one.
  func passcodeArrived(in context: ContextID) {
    let waiting = operations.values.filter { $0.context == context && $0.need.takesPasscode }.map(\.id).sorted()
    for id in waiting.prefix(contexts[context]?.reuse == 0 ? 1 : waiting.count) { finish(id, .success(.covered)) }
  }

  private static var sensorTaken: EnclaveError {
    .busy("the fingerprint reader serves another request; try again when that has ended")
  }

  /// Whether a request has the sensor or waits for it. One that has ended and only lets go does not count.
  private var isSensorTaken: Bool {
    if queue.count > 0 { return true }
    guard let active else { return false }
    return operations[active.operation] != nil
  }

  private func begin(_ operation: Operation) {
    let id = operation.id
    let (deadline, clock) = (operation.deadline, clock)
    var operation = operation
    operation.driver = Task { await self.admit(id) }
    operation.timer = Task {
      guard (try? await clock.sleep(until: deadline)) != nil else { return }
      self.expire(id)
    }
    operations[id] = operation
  }

  /// Finds out whether the user can be asked at all, then queues the request.
  private func admit(_ id: UInt64) async {
    guard let asked = operations[id] else { return }
    let availability = await sensor.availability(of: asked.user)
    guard let operation = operations[id] else { return }
    switch availability {
    case .available: break
    case .noReader(let why): return finish(id, .failure(.biometryNotAvailable(why)))
    case .notEnrolled: return finish(id, .failure(.biometryNotEnrolled(operation.scope)))
    case .failed(let why): return finish(id, .failure(.sensor(why)))
    }
    if operation.scope == .secret {
      do {
        let members = try withKeychain(of: operation.user) { keychain throws(KeychainError) in
          try keychain.biometrySet()
        }
        guard !members.isEmpty else { return finish(id, .failure(.biometryNotEnrolled(.secret))) }
        try requireTrustedReader(operation.user)
      } catch {
        return finish(id, .failure(error))
      }
    }
    if isSensorTaken {
      guard !operation.noWait else { return finish(id, .failure(Self.sensorTaken)) }
      operation.reporter.report(.queued)
    }
    queue.append(id, of: operation.user)
    giveWayIfDue()
    serveNext()
  }

  /// Nobody waits longer than was asked for.
  private func expire(_ id: UInt64) {
    guard let operation = operations[id] else { return }
    if active?.operation == id {
      finish(id, .failure(.timedOut))
    } else if queue.contains(id) {
      finish(id, .failure(.busy("other requests had the fingerprint reader for \(operation.seconds) s; ask again")))
    } else {
      finish(id, .failure(.sensor("the fingerprint reader did not answer for \(operation.seconds) s; ask again")))
    }
  }

  private func serveNext() {
    // What waits in the queue is an operation: `finish` takes it out of both.
    guard active == nil, let id = queue.next(), let operation = operations[id] else { return }
    let since = clock.uptime()
    let clock = clock
    active = ActiveWait(operation: id, user: operation.user, since: since)
    active?.task = Task {
      await self.serve(id)
      self.sensorIsFree()
    }
    active?.timer = Task {
      guard (try? await clock.sleep(until: since + Limits.turnMilliseconds)) != nil else { return }
      self.giveWayIfDue()
    }
  }

  private func sensorIsFree() {
    active?.timer?.cancel()
    active = nil
    serveNext()
  }

  /// A request that has had the sensor for its turn goes back into the queue once another user waits.
  private func giveWayIfDue() {
    guard let wait = active, !wait.givesWay, operations[wait.operation] != nil,
      clock.uptime() - wait.since >= Limits.turnMilliseconds, queue.someoneWaits(otherThan: wait.user)
    else { return }
    active?.givesWay = true
    wait.task?.cancel()
  }

  /// Arms the sensor for one request, once per try, until the request ends or gives way.
  private func serve(_ id: UInt64) async {
    while let operation = operations[id] {
      if active?.givesWay == true { return requeue(operation) }
      let user = operation.user
      if isCovered(operation) { return finish(id, .success(.covered)) }
      do {
        try requireBiometry(of: user)
      } catch {
        return finish(id, .failure(error))
      }
      let wait = newNumber()
      let verdict = await verdict(of: wait, for: operation)
      switch verdict {
      case .success(.noMatch(let readers)):
        missed(id, user, onReaders: readers)
      case .success(.match(let touch)):
        return matched(id, wait, touch)
      case .failure(.cancelled) where active?.givesWay == true:
        continue
      case .failure(let error):
        return finish(id, .failure(Self.error(of: error, operation.scope)))
      }
    }
  }

  private func requeue(_ operation: Operation) {
    operation.reporter.report(.queued)
    queue.append(operation.id, of: operation.user)
  }

  private func isCovered(_ operation: Operation) -> Bool {
    guard let id = operation.context, let context = contexts[id] else { return false }
    return context.isCovered(operation.need, at: clock.uptime())
  }

  private func verdict(of wait: UInt64, for operation: Operation) async -> Result<MatchOutcome, SensorError> {
    let user = operation.user
    let request = MatchRequest(
      id: wait, operation: operation.id, user: user, connection: operation.connection, scope: operation.scope,
      seconds: Int(max(1, (operation.deadline - clock.uptime() + 999) / 1000)),
      isRegistered: { print in await self.isRegistered(print, user: user) },
      isTrusted: { place in await self.isTrusted(place, user: user) })
    let reporter = operation.reporter
    do {
      return .success(
        try await sensor.match(request) { progress in
          switch progress {
          case .waiting(let reader, let scanType, let fingers):
            reporter.report(.waiting(reader: reader, scanType: scanType, fingers: fingers))
          case .retry(let reason):
            reporter.report(.retry(reason: reason))
          }
        })
    } catch {
      return .failure(error)
    }
  }

  /// A finger was seen that is not the user's, or several on as many readers. It counts even where the request has ended meanwhile: otherwise whoever
  /// cancels in time could try fingers without end.
  private func missed(_ id: UInt64, _ user: UserID, onReaders readers: Int) {
    let misses = max(1, min(readers, LockoutPolicy.allowedMisses))
    let left: Int
    do {
      left = try recordMiss(of: user, count: misses)  // before it is reported
    } catch {
      operations[id]?.reporter.report(.noMatch(triesLeft: 0))
      finish(id, .failure(error))
      return lockOut(user)
    }
    if var operation = operations[id] {
      operation.triesLeft = max(0, operation.triesLeft - misses)
      operations[id] = operation
      operation.reporter.report(.noMatch(triesLeft: min(operation.triesLeft, left)))
      if operation.triesLeft == 0, left > 0 {
        finish(id, .failure(.authenticationFailed("the finger is not one of the enrolled ones; try again")))
      }
    }
    if left == 0 { lockOut(user) }
  }

  /// The sensor says that a finger matched; what it says is checked before it counts.
  private func matched(_ id: UInt64, _ wait: UInt64, _ touch: Touch) {
    guard let operation = operations[id] else { return }  // Its request has ended: the touch is for nothing.
    guard touch.request == wait, touch.user == operation.user else {
      return finish(id, .failure(.sensor("the fingerprint reader gave the verdict of another request; ask again")))
    }
    do {
      // Others may have missed meanwhile, through net.reactivated.Fprint.
      try requireUnlocked(operation.user)
      if operation.scope == .secret { try requireForSecrets(touch, of: operation.user) }
    } catch {
      return finish(id, .failure(error))
    }
    recordMatch(of: operation.user, with: touch.print, on: touch.place)
    if operation.scope == .secret, let context = operation.context, contexts[context]?.reuse ?? 0 > 0 {
      contexts[context]?.touched(at: clock.uptime())
    }
    operation.reporter.report(.matched(finger: touch.finger))
    finish(id, .success(.touch(touch)))
  }

  private static func error(of error: SensorError, _ scope: MatchScope) -> EnclaveError {
    switch error {
    case .cancelled: .systemCancel
    case .timedOut: .timedOut
    case .noReader(let why): .biometryNotAvailable(why)
    case .notEnrolled: .biometryNotEnrolled(scope)
    case .busy(let why): .busy(why)
    case .failed(let why): .sensor(why)
    }
  }
}
