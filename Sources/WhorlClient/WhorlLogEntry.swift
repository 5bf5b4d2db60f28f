internal import Bus

/// What became of one request for a secret of the caller's. Texts are free of control characters.
public struct WhorlLogEntry: Hashable, Sendable {
  /// When, in seconds since 1970.
  public var time: Int64 = 0
  /// What was to be done: "read", "change" or another use.
  public var deed = ""
  /// "released", or the last part of the name of the error that it ended with.
  public var outcome = ""
  /// The item's name; nil where it is not there any more.
  public var item: String?
  /// A keyed hash of the item's name, equal for the same item.
  public var itemHash: [UInt8] = []
  /// What the item asks for.
  public var constraints: [String] = []
  /// The file of the program that asked; empty where it is not known.
  public var executable = ""
  /// What that program calls itself.
  public var program = ""
  /// Its process; 0 where that is not known.
  public var pid: UInt32 = 0

  /// An entry without anything.
  public init() {}
}

extension WhorlLogEntry {
  init(_ values: [String: BusValue]) {
    self.init()
    if case .int64(let time)? = values["time"]?.unwrapped { self.time = time }
    deed = printable(values["deed"]?.unwrapped.asString ?? "")
    outcome = printable(values["outcome"]?.unwrapped.asString ?? "")
    item = (values["item"]?.unwrapped.asString).map(printable)
    itemHash = values["item-hash"]?.unwrapped.asBytes ?? []
    constraints = (values["constraints"]?.unwrapped.asStrings ?? []).map(printable)
    executable = printable(values["executable"]?.unwrapped.asString ?? "")
    program = printable(values["program"]?.unwrapped.asString ?? "")
    pid = values["pid"]?.unwrapped.asUInt32 ?? 0
  }
}
