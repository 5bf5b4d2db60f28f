internal import Glibc

/// What `whorl agent` is to be.
struct AgentOrder: Equatable {
  /// The pinentry that distributions choose.
  static let standardPinentry = "/usr/bin/pinentry"

  static let options = [
    ArgumentScanner.Option(name: "pinentry", letter: nil, takesValue: true),
    ArgumentScanner.Option(name: "terminal", letter: nil, takesValue: false),
    ArgumentScanner.Option(name: "process", letter: nil, takesValue: true),
    ArgumentScanner.Option(name: "ready-fd", letter: nil, takesValue: true),
    ArgumentScanner.Option(name: "parent-fd", letter: nil, takesValue: true),
  ]

  /// The program that shows the dialog; of no use on a terminal.
  var pinentry = standardPinentry
  /// Whether it asks on its terminal.
  var isOnTerminal = false
  /// The one process that it serves; nil serves the session.
  var process: UInt32?
  /// Gets a byte once whorld knows the agent.
  var readyDescriptor: Int32?
  /// At its end, or with the first byte that comes out of it, the agent ends.
  var parentDescriptor: Int32?
}

extension AgentOrder {
  /// - Throws: `.usage`.
  init(_ given: [(name: String, value: String?)]) throws(CommandFailure) {
    func value(_ name: String) -> String? { given.last { $0.name == name }?.value }
    isOnTerminal = given.contains { $0.name == "terminal" }
    if let program = value("pinentry") {
      guard !isOnTerminal else {
        throw CommandFailure(.usage, "--pinentry goes with a desktop, --terminal without one; leave out one of them")
      }
      guard program.contains("/") else {
        throw CommandFailure(.usage, "--pinentry takes a program's path, not \(Escaping.quoted(program))")
      }
      pinentry = program
    }
    for name in ["process", "ready-fd", "parent-fd"] where value(name) != nil && !isOnTerminal {
      throw CommandFailure(.usage, "--\(name) goes with --terminal; leave it out")
    }
    if let text = value("process") {
      guard let number = UInt32(text), (1...UInt32(Int32.max)).contains(number) else {
        throw CommandFailure(.usage, "--process takes the number of a process, not \(Escaping.quoted(text))")
      }
      process = number
    }
    readyDescriptor = try Self.descriptor("ready-fd", value("ready-fd"))
    parentDescriptor = try Self.descriptor("parent-fd", value("parent-fd"))
  }

  private static func descriptor(_ name: String, _ text: String?) throws(CommandFailure) -> Int32? {
    guard let text else { return nil }
    guard let number = Int32(text), number >= 0 else {
      throw CommandFailure(.usage, "--\(name) takes the number of an open descriptor, not \(Escaping.quoted(text))")
    }
    return number
  }
}
