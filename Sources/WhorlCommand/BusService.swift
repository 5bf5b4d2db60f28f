import GLibLoop

/// The daemon over the bus.
@GLibActor
enum BusService {
  static func connect() async throws(ServiceProblem) -> any Service { throw ServiceProblem(.noDaemon) }
}
