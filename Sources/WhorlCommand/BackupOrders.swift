import WhorlClient

/// What `whorl export` is to do.
struct ExportOrder: Sendable, Equatable {
  /// The file, or `-` for standard output.
  var file: String
  /// Whether a file of that name is replaced.
  var overwrites = false
  /// The descriptor to read the passphrase from; nil: it is asked for.
  var passphrase: Int32?
}

/// What `whorl import` is to do.
struct ImportOrder: Sendable, Equatable {
  /// How the file is written.
  enum Format: Sendable, Equatable {
    /// As `whorl export` writes it.
    case archive
    /// `name,secret`, as RFC 4180 says.
    case csv
    /// `NAME=SECRET`.
    case pairs
  }

  /// The file, or `-` for standard input.
  var file: String
  var format = Format.archive
  var existing = WhorlExisting.refuse
  /// What the secrets of a list ask for; nil: presence.
  var requirement: Requirement?
  /// When the secrets of a list can be read; nil: always.
  var accessible: Accessibility?
  /// The descriptor to read the passphrase from; nil: it is asked for.
  var passphrase: Int32?
}

/// The words after `export` and `import`.
enum BackupOrders {
  private static let passphrase = ArgumentScanner.Option(name: "passphrase-fd", letter: nil, takesValue: true)
  static let exportOptions = [passphrase, ArgumentScanner.Option(name: "force", letter: "f", takesValue: false)]
  static let importOptions =
    [passphrase]
    + ["csv", "pairs", "skip-existing", "replace"].map {
      ArgumentScanner.Option(name: $0, letter: nil, takesValue: false)
    }

  typealias Given = [(name: String, value: String?)]

  static func export(_ operands: [String], _ given: Given) throws(CommandFailure) -> ExportOrder {
    let file = try self.file(operands, "export")
    let order = ExportOrder(
      file: file, overwrites: given.contains { $0.name == "force" }, passphrase: try descriptor(given))
    if order.file == "-", order.overwrites {
      throw CommandFailure(.usage, "--force is for a file, and - is standard output; leave out one of them")
    }
    return order
  }

  static func `import`(
    _ operands: [String], _ given: Given, _ requirement: Requirement?, _ accessible: Accessibility?
  ) throws(CommandFailure) -> ImportOrder {
    var order = ImportOrder(file: try file(operands, "import"))
    let names = Set(given.map(\.name))
    for (one, other) in [("csv", "pairs"), ("skip-existing", "replace")] where names.isSuperset(of: [one, other]) {
      throw CommandFailure(.usage, "import takes --\(one) or --\(other), not both")
    }
    if names.contains("csv") { order.format = .csv }
    if names.contains("pairs") { order.format = .pairs }
    if names.contains("skip-existing") { order.existing = .skip }
    if names.contains("replace") { order.existing = .replace }
    order.passphrase = try descriptor(given)
    (order.requirement, order.accessible) = (requirement, accessible)
    if order.format == .archive, requirement != nil || accessible != nil {
      throw CommandFailure(
        .usage,
        "--\(requirement != nil ? "require" : "accessible") is for --csv and --pairs; an export file says itself what its "
          + "secrets ask for")
    }
    if order.format != .archive, order.passphrase != nil {
      throw CommandFailure(.usage, "--passphrase-fd is for an export file; a list has no passphrase")
    }
    if order.file == "-", order.passphrase == 0 {
      throw CommandFailure(.usage, "standard input cannot be both the file and the passphrase; give one otherwise")
    }
    return order
  }

  private static func file(_ operands: [String], _ verb: String) throws(CommandFailure) -> String {
    guard operands.count == 1 else {
      let what = operands.isEmpty ? "needs a file" : "takes one file, \(operands.count) words were given"
      throw CommandFailure(.usage, "\(verb) \(what): whorl \(verb) FILE")
    }
    guard !operands[0].isEmpty else { throw CommandFailure(.usage, "the file's name is empty; give one") }
    return operands[0]
  }

  private static func descriptor(_ given: Given) throws(CommandFailure) -> Int32? {
    guard let value = given.last(where: { $0.name == "passphrase-fd" })?.value else { return nil }
    guard let number = Int32(value), number >= 0, value.utf8.allSatisfy({ (48...57).contains($0) }) else {
      throw CommandFailure(
        .usage, "--passphrase-fd takes the number of a descriptor, not \(Escaping.quoted(value)); 0 is standard input")
    }
    return number
  }
}
