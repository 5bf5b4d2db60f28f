internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// The bridge of one reader: libfprint is told to load that reader's driver only, and the sandbox lets the process open
/// that reader's nodes and no others.
@GLibActor
struct NarrowBridge {
  /// What its process may see.
  struct Scope: Hashable {
    var driver: String
    /// nil where the nodes cannot be told one by one.
    var nodes: [String]?
  }

  let scope: Scope
  let keeper: ReaderKeeper

  /// The keeper's name of the reader that is described so.
  /// - Throws: `.noSuchReader` too: who stands at two places, or two at one, is nobody's to trust.
  func name(of reader: ReaderDescription) async throws(ReaderError) -> ReaderID {
    let readers = try await keeper.readers()
    let same = zip(ReaderID.ids(of: readers), readers).filter {
      $1.driver == reader.driver && $1.deviceID == reader.deviceID && $1.hint == reader.hint
    }
    guard same.count == 1 else { throw .noSuchReader }
    return same[0].0
  }

  /// Makes bridges; their processes start when they are needed.
  struct Maker {
    /// The path of whorl-reader.
    let program: String
    /// Whether it may serve virtual readers.
    let isPrivate: Bool
    /// The environment of the usual one.
    let environment: [String: String]
    /// How long they may take.
    var limits = ReaderKeeper.Limits.standard

    /// The bridge that meets every reader.
    @GLibActor func usual() -> ReaderKeeper {
      ReaderKeeper(
        program: program, arguments: isPrivate ? ["--private"] : [], environment: environment, limits: limits)
    }

    /// A bridge of one reader.
    @GLibActor func bridge(for scope: Scope) -> NarrowBridge {
      var variables = environment.filter { name, _ in
        !name.hasPrefix("FP_VIRTUAL_") || name.dropFirst("FP_".count).lowercased() == scope.driver
      }
      // Under both names: libfprint has changed it.
      for name in ["FP_DRIVERS_ALLOWLIST", "FP_DRIVERS_WHITELIST"] { variables[name] = scope.driver }
      var arguments = isPrivate ? ["--private"] : []
      if let nodes = scope.nodes {
        for node in nodes.isEmpty ? ["/dev/null"] : nodes { arguments += ["--only", node] }
      }
      return NarrowBridge(
        scope: scope,
        keeper: ReaderKeeper(program: program, arguments: arguments, environment: variables, limits: limits))
    }
  }
}
