/// One step of a stack, as libpam keeps it.
public struct PAMStep: Sendable, Equatable {
  /// What the step does.
  public enum Kind: Sendable, Equatable {
    /// Asks a module.
    case module(String)
    /// Where a substack begins; nothing is asked.
    case substack(String)
    /// A line that libpam cannot use, in words: it fails always.
    case broken(String)
  }

  /// What it does.
  public let kind: Kind
  /// What comes of its answer.
  public let control: PAMControl
  /// What stands behind the module's name.
  public let arguments: [String]
  /// How many substacks it is in.
  public let level: Int
  /// The file that it stands in.
  public let file: String
  /// Its line there, the first being 1.
  public let line: Int
  /// The line of the service's own file that it comes from, the first being 1: its own, or that of an include.
  public let serviceLine: Int
  /// The module is in none of the places where libpam looks.
  public let isMissing: Bool

  /// The module's name, without folders; empty for what is none.
  public let module: String

  init(
    kind: Kind, control: PAMControl, arguments: [String], level: Int, file: String, line: Int, serviceLine: Int,
    isMissing: Bool
  ) {
    self.kind = kind
    self.control = control
    self.arguments = arguments
    self.level = level
    self.file = file
    self.line = line
    self.serviceLine = serviceLine
    self.isMissing = isMissing
    module = if case .module(let name) = kind { Self.fileName(name) } else { "" }
  }

  private static func fileName(_ path: String) -> String {
    let last = path.split(separator: "/").last ?? ""
    // A file with DOS line ends: libpam looks for such a module and finds none.
    return String(last.last == "\r" ? last.dropLast() : last)
  }
}

extension PAMStep {
  /// Whether it asks for a finger.
  public var asksForFinger: Bool { ModuleTable.role(of: self) == .finger }
}

/// The `auth` stack of a service, with everything that it includes.
public struct PAMStack: Sendable, Equatable {
  /// Its steps, in the order in which they are asked.
  public internal(set) var steps: [PAMStep] = []
  /// The service's own file; nil where it has none and `other` serves.
  public internal(set) var file: String?
  /// Whether the service has no auth line of its own, so that `other` serves.
  public internal(set) var isOthers = false
  /// Every file that was read for it.
  public internal(set) var files: Set<String> = []
  /// Files that could not be read.
  public internal(set) var unreadable: Set<String> = []
  /// What makes libpam refuse the service altogether, in words.
  public internal(set) var refusal: String?
  /// Whether ``refusal`` is not libpam's: there is more of the stack than is followed here.
  public internal(set) var isTooLong = false
  /// Why versions of libpam may read its files in different ways, in words.
  public internal(set) var doubt: String?

  init() {}

  /// The `auth` stack of a service.
  public init(service: String, in files: PAMFiles) {
    self = StackLoader(files).read(service)
  }
}

extension PAMFiles {
  /// The services that programs ask for: all files but those that are only parts of others.
  public var services: [String] {
    let parts: Set<String> = [
      "system-auth", "password-auth", "fingerprint-auth", "smartcard-auth", "postlogin", "system-login",
      "system-local-login", "system-remote-login", "system-services",
    ]
    return names().filter { !$0.hasPrefix("common-") && !parts.contains($0) }
  }

  /// Whether there are PAM files at all.
  public var isThere: Bool { !names().isEmpty }
}
