/// What a service's `auth` stack does, and what is wrong with it.
public struct ServiceVerdict: Sendable, Equatable {
  /// Something that is wrong.
  public enum Fault: Sendable, Equatable {
    /// libpam refuses the service altogether; why, in words.
    case refused(String)
    /// It is longer than is followed here, so that nothing is known of it; in words.
    case unjudged(String)
    /// Versions of libpam differ about it; why, in words.
    case doubtful(String)
    /// It lets in whoever comes, without a match, a right password or any other reason.
    case open
    /// The right password does not let in.
    case passwordIsClosed
    /// A match does not let in.
    case matchIsClosed
    /// A match passes by what everybody with the right password has to pass: module and place.
    case bypassed(String)
    /// The stack asks for pam_whorl.so, which is not installed.
    case moduleIsMissing
    /// The finger is asked for more than once.
    case asksTwice
  }

  /// The service's name.
  public let service: String
  /// Its `auth` stack.
  public let stack: PAMStack
  /// Whether the stack comes to pam_whorl.so.
  public let hasFinger: Bool
  /// Whether the stack asks for a password.
  public let hasPassword: Bool
  /// What comes of a match, without a password.
  public let match: PAMOutcome
  /// What comes of the wrong finger, without the right password.
  public let noMatch: PAMOutcome
  /// What comes of it where there is no verdict on a finger, without the right password.
  public let unavailable: PAMOutcome
  /// What comes of the right password, without a match.
  public let rightPassword: PAMOutcome
  /// What comes of a wrong password, without a match.
  public let wrongPassword: PAMOutcome
  /// Modules that may let somebody in by themselves, with their place.
  public let alsoLetsIn: [String]
  /// What is wrong with it.
  public let faults: [Fault]

  /// The module's file name.
  public static let module = ModuleTable.finger

  /// Whether what it does is known. The outcomes mean nothing otherwise.
  public var isJudged: Bool { !stack.isTooLong }

  /// The first step that asks for a finger.
  public var fingerStep: PAMStep? { stack.steps.first { ModuleTable.role(of: $0) == .finger } }

  /// Whether something is wrong that somebody has to mend.
  public var isFaulty: Bool { faults.contains(where: isSerious) }

  /// Whether that fault has to be mended. Of services without a finger, what only keeps people out is not ours.
  public func isSerious(_ fault: Fault) -> Bool {
    switch fault {
    case .open, .matchIsClosed, .bypassed, .moduleIsMissing: true
    case .refused, .unjudged, .passwordIsClosed: hasFinger
    case .doubtful, .asksTwice: false
    }
  }

  /// Whether a line that Whorl put in asks for the finger.
  public func isMarked(in files: PAMFiles) -> Bool {
    guard let step = fingerStep, !stack.isOthers else { return false }
    return files.markedLine(at: step.file) == step.line
  }

  /// - Parameter known: what modules are known to say, as in ``PAMScene/known``.
  public init(service: String, in files: PAMFiles, known: [String: PAMCodes] = [:]) {
    self.init(service: service, stack: PAMStack(service: service, in: files), known: known)
  }

  init(service: String, stack: PAMStack, known: [String: PAMCodes] = [:]) {
    self.service = service
    self.stack = stack
    let simulator = Simulator(stack: stack)
    let roles = stack.steps.map(ModuleTable.role)
    hasFinger = roles.contains(.finger)
    hasPassword = roles.contains(.password)

    func answers(_ scene: PAMScene) -> Simulator.Answers {
      var scene = scene
      scene.known = known
      return simulator.usual(scene)
    }
    match = simulator.outcome(answers(.match))
    noMatch = simulator.outcome(answers(.noMatch))
    unavailable = simulator.outcome(answers(.unavailable))
    rightPassword = simulator.outcome(answers(.rightPassword))
    wrongPassword = simulator.outcome(answers(.wrongPassword))
    alsoLetsIn = Self.otherWays(simulator, answers(.wrongPassword))

    var faults: [Fault] = []
    if let refusal = stack.refusal { faults.append(stack.isTooLong ? .unjudged(refusal) : .refused(refusal)) }
    if let doubt = stack.doubt { faults.append(.doubtful(doubt)) }
    // Where nothing is asked for, as of a greeter's own session, that is what is meant.
    if hasPassword || hasFinger, simulator.outcome(answers(.wrongPassword), excuse: Self.isReason).mayGrant {
      faults.append(.open)
    }
    if stack.refusal == nil, hasPassword, rightPassword.mayDeny { faults.append(.passwordIsClosed) }
    if stack.refusal == nil, hasFinger {
      let fingers = stack.steps.filter { ModuleTable.role(of: $0) == .finger }
      if fingers.contains(where: \.isMissing) {
        faults.append(.moduleIsMissing)
      } else if match.mayDeny {
        faults.append(.matchIsClosed)
      } else if let passed = Self.bypassed(simulator, known) {
        faults.append(.bypassed(passed))
      }
      if Set(fingers.map(Self.place)).count > 1 { faults.append(.asksTwice) }
    }
    self.faults = faults
  }

  /// Whether its success is a reason to let somebody in that somebody meant: a proof, or a condition or an unknown
  /// module whose success decides.
  private static func isReason(_ step: PAMStep) -> Bool {
    switch ModuleTable.role(of: step) {
    case .proof: true
    case .condition, .unknown: step.control.decides
    case .finger, .afterLogin, .password, .hurdle, .service, .constant: false
    }
  }

  static func place(_ step: PAMStep) -> String { "\(step.module) (\(step.file), line \(step.line))" }

  /// The steps whose success alone, of all that could be a reason, lets in.
  private static func otherWays(_ simulator: Simulator, _ answers: Simulator.Answers) -> [String] {
    let steps = simulator.stack.steps
    let reasons = steps.indices.filter { isReason(steps[$0]) && answers[$0].contains(.success) }
    var none = answers
    for index in reasons where !steps[index].control.isGate { none[index].subtract(.success) }
    var variations = Variations(simulator, none)
    return reasons.filter { !steps[$0].control.isGate && variations.mayGrant(changing: $0, to: .success) }
      .map { place(steps[$0]) }
  }

  /// The first step that everybody with the right password has to pass and a match does not.
  private static func bypassed(_ simulator: Simulator, _ known: [String: PAMCodes]) -> String? {
    var right = PAMScene.rightPassword
    var match = PAMScene.match
    (right.known, match.known) = (known, known)
    var withPassword = Variations(simulator, simulator.usual(right))
    var withMatch = Variations(simulator, simulator.usual(match))
    for (index, step) in simulator.stack.steps.enumerated() {
      switch ModuleTable.role(of: step) {
      case .proof, .condition, .hurdle, .unknown: break
      case .finger, .afterLogin, .password, .service, .constant: continue
      }
      if step.module == "pam_faillock.so", step.arguments.contains("authfail") { continue }
      if !withPassword.mayGrant(changing: index, to: .failures), withMatch.mayGrant(changing: index, to: .failures) {
        return place(step)
      }
    }
    return nil
  }
}
