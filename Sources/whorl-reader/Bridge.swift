internal import Fingerprint
internal import GLibLoop
internal import Glibc
internal import ReaderLink

/// Answers requests until the other end closes: several at once, one a reader.
@GLibActor
final class Bridge {
  private let stream: ByteStream
  private let roster = Roster()
  private var decoder = FrameDecoder(limit: LinkLimits.requestBytes)
  private var running: [UInt64: Task<Void, Never>] = [:]
  private var ended: CheckedContinuation<Int32, Never>?
  private var exitCode: Int32?

  /// More requests than this at once are not whorld's.
  private static let requestLimit = 64
  /// How long readers may take to let go after the other end has closed.
  private static let farewellMilliseconds = 2000

  private let log: LibraryLog

  /// Takes the socket over.
  init(descriptor: Int32, log: LibraryLog) {
    self.log = log
    stream = ByteStream(descriptor: descriptor, queueLimit: 2 * LinkLimits.answerBytes)
  }

  /// Serves until the end; gives the exit code.
  func run() async -> Int32 {
    stream.onBytes = { [weak self] in self?.receive($0) }
    stream.onEnd = { [weak self] in self?.end($0 == .closed ? 0 : 74) }
    roster.onChange = { [weak self] in self?.send(.event(.readersChanged($0))) }
    roster.onFingerStatus = { [weak self] reader, needed, present in
      self?.send(.event(.fingerStatus(reader: reader, needed: needed, present: present)))
    }
    roster.onTemperature = { [weak self] in self?.send(.event(.temperature(reader: $0, $1))) }
    log.onIgnoredDevice = { [weak self] in self?.send(.event(.deviceIgnored($0))) }
    send(.hello(version: LinkLimits.version, libfprint: "libfprint-2"))
    let code = await withCheckedContinuation { waiter in
      if let exitCode { waiter.resume(returning: exitCode) } else { ended = waiter }
    }
    await letGo()
    return code
  }

  private func end(_ code: Int32) {
    guard exitCode == nil else { return }
    exitCode = code
    stream.close()
    ended?.resume(returning: code)
    ended = nil
  }

  /// Ends what runs and closes the readers, so that no sensor stays armed; but not for long.
  private func letGo() async {
    let deadline = Task { @GLibActor in
      try await glibSleep(milliseconds: Self.farewellMilliseconds)
      exit(75)
    }
    for task in running.values { task.cancel() }
    for task in Array(running.values) { await task.value }
    await roster.closeAll()
    deadline.cancel()
  }

  private func receive(_ bytes: [UInt8]) {
    decoder.append(bytes)
    do throws(LinkError) {
      while exitCode == nil, let message = try decoder.next() { accept(try NumberedRequest(decoding: message)) }
    } catch {
      end(76)
    }
  }

  private func accept(_ call: NumberedRequest) {
    switch call.request {
    case .ping: send(.reply(request: call.number, .pong))
    case .cancel(let number): running[number]?.cancel()
    default:
      guard running[call.number] == nil, running.count < Self.requestLimit else {
        return send(.reply(request: call.number, .failed(.busy("the bridge has too many requests"))))
      }
      running[call.number] = Task {
        let reply = await self.reply(to: call)
        self.running[call.number] = nil
        self.send(.reply(request: call.number, reply))
      }
    }
  }

  private func reply(to call: NumberedRequest) async -> ReaderReply {
    do throws(ReaderError) {
      return try await Operations(roster: roster, tell: { [weak self] in self?.send(.event($0)) }).perform(call)
    } catch {
      return .failed(error)
    }
  }

  private func send(_ answer: ReaderAnswer) {
    do throws(LinkError) {
      stream.send(try answer.encoded())
    } catch {
      // An image or a list beyond the limits: the one who waits for it hears of it all the same.
      guard case .reply(let number, _) = answer else { return }
      let failure = ReaderAnswer.reply(request: number, .failed(.general(error.description)))
      if let bytes = try? failure.encoded() { stream.send(bytes) }
    }
  }
}
