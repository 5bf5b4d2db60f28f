import Bus
import EmbeddedLink
import GLibLoop
import WhorlClient

/// Enrols, registers, lists and deletes the user's fingers for the program.
@GLibActor
final class FingerWork {
  enum Deed {
    case enroll(String)
    case register(String)
    case list
    case delete(String)
  }

  /// Why a deed failed.
  private struct Failure: Error {
    let code: EmbeddedLink.Failure
    let message: String

    init(_ code: EmbeddedLink.Failure, _ message: String) {
      self.code = code
      self.message = message
    }

    init(_ error: WhorlError) {
      message = error.message
      code =
        switch error.code {
        case .cancelled: .cancelled
        case .fprint(.noSuchDevice), .biometryNotAvailable: .noReader
        case .fprint(.noEnrolledPrints): .noSuchFinger
        case .fprint(.invalidFingerName), .param: .param
        case .fprint, .readerFailed: .readerFailed
        default: .failed
        }
    }
  }

  private let desk: EventDesk
  private let readers: FprintClient
  private let enclave: WhorlClient
  private var tasks: [UInt64: Task<Void, Never>] = [:]

  init(address: String, desk: EventDesk) {
    self.desk = desk
    readers = FprintClient(address: address, mustBeWhorld: true)
    enclave = WhorlClient(transport: BusTransport(address: address))
  }

  func begin(_ number: UInt64, _ deed: Deed) {
    tasks[number] = Task { @GLibActor in
      do throws(Failure) {
        desk.tell(.done, number, try await run(deed, number))
      } catch {
        let message = error.message.isEmpty ? "The reader failed; try again." : error.message
        desk.tell(.failed, number, ["code": .string(error.code.rawValue), "message": .string(message)])
      }
      tasks[number] = nil
    }
  }

  func cancel(_ number: UInt64) { tasks[number]?.cancel() }

  private func run(_ deed: Deed, _ number: UInt64) async throws(Failure) -> [String: BusValue] {
    let reader = try await reader()
    switch deed {
    case .list:
      do throws(WhorlError) { return ["fingers": .strings(try await reader.listEnrolledFingers())] } catch {
        throw Failure(error)
      }
    case .delete(let finger):
      try await claimed(reader) { () async throws(Failure) in
        do throws(WhorlError) { try await reader.deleteEnrolledFinger(finger) } catch { throw Failure(error) }
      }
    case .enroll(let finger):
      try await claimed(reader) { () async throws(Failure) in
        try await enroll(finger, on: reader, number)
        // Under the claim, so that nobody puts another print in its place before.
        try await register(finger, on: reader)
      }
    case .register(let finger): try await register(finger, on: reader)
    }
    return [:]
  }

  private func reader() async throws(Failure) -> FprintDevice {
    do throws(WhorlError) {
      if let reader = try await readers.defaultDevice() { return reader }
    } catch {
      throw Failure(error)
    }
    throw Failure(.noReader, "There is no fingerprint reader; plug one in.")
  }

  private func claimed(_ reader: FprintDevice, _ body: () async throws(Failure) -> Void) async throws(Failure) {
    do throws(WhorlError) { try await reader.claim() } catch { throw Failure(error) }
    let outcome: Result<Void, Failure>
    do throws(Failure) { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    // In a task of its own, for this one may be cancelled.
    await Task { @GLibActor in try? await reader.release() }.value
    try outcome.get()
  }

  private func enroll(_ finger: String, on reader: FprintDevice, _ number: UInt64) async throws(Failure) {
    let last: FprintScanStatus
    do throws(WhorlError) {
      let touches = try await reader.properties().enrollStages
      desk.tell(.ready, number, touches.map { ["touches": .uint32(UInt32($0))] } ?? [:])
      last = try await reader.enroll(finger) { [desk] status in
        desk.tell(.scan, number, ["word": .string(status.word)])
      }
    } catch {
      let why = await reader.explainEnrollment()
      throw why.isEmpty || error.code == .cancelled ? Failure(error) : Failure(.readerFailed, why)
    }
    guard last.word == "enroll-completed" else {
      let why = await reader.explainEnrollment()
      throw Failure(.readerFailed, why.isEmpty ? "The finger was not enrolled (\(last.word)); try again." : why)
    }
  }

  /// Whose passcode that is, whorld has asked for.
  private func register(_ finger: String, on reader: FprintDevice) async throws(Failure) {
    do throws(WhorlError) {
      let context = try await enclave.createContext()
      let result: Result<WhorlAdoption, WhorlError>
      do throws(WhorlError) {
        result = .success(try await enclave.adopt(fingers: [finger], on: reader.path, in: context))
      } catch { result = .failure(error) }
      await Task { @GLibActor [enclave] in try? await enclave.invalidate(context) }.value
      if let name = try result.get().untrustedReaders.first {
        throw WhorlError(.denied, "\(name) is not trusted with secrets.")
      }
    } catch {
      if error.code == .cancelled { throw Failure(error) }
      throw Failure(.notRegistered, "The finger is enrolled, but opens no secret: \(error.message)")
    }
  }
}
