import GLibLoop
import PAMStacks
import WhorlClient

extension Commands {
  func status() async throws(CommandFailure) -> ExitCode {
    let wiring = PAMWiring.read(PAMPlaces(root: surroundings.pamRoot))
    var answer: Result<WhorlStatus, WhorlError>
    do throws(WhorlError) { answer = .success(try await service.status()) } catch { answer = .failure(error) }
    // Asked of the bus, which may not be there either.
    let hasPolkit = if case .success = answer { await service.hasPolkit() } else { true }
    if Task.isCancelled { throw .cancelled }
    let report = StatusReport(answer, wiring, user: callerName, invoker: invoker, hasPolkit: hasPolkit)
    if isJSON {
      if case .success(let status) = answer { try await console.print(StatusJSON.object(status, wiring).line) }
    } else {
      for line in report.lines { try await console.print(line) }
      if case .success = answer { for line in await enabledKeyringLines() { try await console.print(line) } }
    }
    if let failure = report.failure { throw failure }
    return .ok
  }

  /// Who called root's command through sudo, pkexec or doas; nil where nobody else did. A hint for texts alone.
  var invoker: String? {
    guard isRoot, let user = try? TargetUser.find(option: nil, in: surroundings), !user.isCaller else { return nil }
    return user.name
  }
}
