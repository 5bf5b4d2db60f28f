/// What `rm --app` removes.
struct AppRemoval: Sendable, Equatable {
  /// The access group; never empty.
  let app: String
  /// The item of that account; nil: of any, where `service` is given, and else all that the app keeps.
  var account: String?
  /// The item of that service, server or key.
  var service: String?
  /// `--yes` was given, so that nothing is asked.
  var confirmed = false

  /// Whether one item is meant, and not all of the app's.
  var isOne: Bool { account != nil || service != nil }

  static let options: [ArgumentScanner.Option] = [
    .init(name: "app", letter: nil, takesValue: true), .init(name: "service", letter: nil, takesValue: true),
    .init(name: "yes", letter: "y", takesValue: false),
  ]

  /// The order that `rm` was given; nil where it is not about an app.
  /// - Throws: `.usage`; nothing that is empty stands for "all".
  static func parse(
    _ operands: [String], _ options: [(name: String, value: String?)]
  ) throws(CommandFailure) -> AppRemoval? {
    let app = options.last { $0.name == "app" }?.value
    let service = options.last { $0.name == "service" }?.value
    let confirmed = options.contains { $0.name == "yes" }
    guard let app else {
      guard service == nil, !confirmed else {
        throw CommandFailure(.usage, "--\(service == nil ? "yes" : "service") goes with --app; leave it out")
      }
      return nil
    }
    guard !app.isEmpty else {
      throw CommandFailure(.usage, "--app is empty; give an app's name, as whorl list --all shows it")
    }
    guard operands.count <= 1 else {
      throw CommandFailure(.usage, "rm --app takes one account; leave out \(Escaping.quoted(operands[1]))")
    }
    guard operands.first?.isEmpty != true, service?.isEmpty != true else {
      throw CommandFailure(
        .usage, "\(service?.isEmpty == true ? "--service" : "the account") is empty; name it, or leave it out")
    }
    return AppRemoval(app: app, account: operands.first, service: service, confirmed: confirmed)
  }
}
