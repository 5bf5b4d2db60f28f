import GLibLoop
import WhorlClient

/// What apps keep in the caller's keychain.
extension Commands {
  /// So many items are listed where more than one was meant.
  private static let shownMatches = 20

  func listAll() async throws(CommandFailure) {
    // Twice through all of it, in parts: whose items there are, then the items of each. No more than the names of the
    // apps are held.
    var json = JSONList(console)
    for app in try await apps() {
      var query = WhorlAttributes()
      query.accessGroup = ""
      if case .group(let bytes) = app { query.accessGroup = String(decoding: bytes, as: UTF8.self) }
      var last: [UInt8]?
      repeat {
        let part = try await kept(query, after: last)
        for item in part.items where item.app == app {
          if isJSON { try await json.add(Self.object(item)) } else { try await console.print(Self.line(item)) }
        }
        last = part.next
      } while last != nil
    }
    if isJSON { try await json.end() }
  }

  func remove(_ order: AppRemoval) async throws(CommandFailure) {
    guard order.isOne else { return try await removeAll(order) }
    let (found, count) = try await matches(order)
    guard let item = found.first else { throw nothing(of: order) }
    guard count == 1 else {
      for item in found { await console.tell(Self.line(item)) }
      if count > found.count { await console.tell("and \(count - found.count) more") }
      let remedy =
        order.service == nil
        ? "say which with --service, the third column"
        : order.account == nil
          ? "give the account too, the fourth column"
          : "they differ in more than that, so only their app can remove one"
      throw CommandFailure(.usage, "\(Self.subject(order)): \(count) items match and none was removed; \(remedy)")
    }
    do throws(WhorlError) { try await service.remove(item) } catch {
      if error.code == .itemNotFound { throw nothing(of: order) }
      throw await secretFailure(error, Self.subject(order))
    }
  }

  // MARK: - Parts

  private func removeAll(_ order: AppRemoval) async throws(CommandFailure) {
    let subject = Self.subject(order)
    if !order.confirmed {
      let count = try await matches(order).count
      guard count > 0 else { throw await nothingAtAll(order) }
      guard console.hasTerminal, console.inputIsTerminal else {
        throw CommandFailure(.usage, "rm --app asks first and there is no terminal to ask on; give --yes to go on")
      }
      guard try await console.confirm("Remove all that \(subject) keeps (\(Self.items(count))) for good?") else {
        throw .cancelled
      }
    }
    let count: Int
    do throws(WhorlError) { count = try await service.removeAll(ofApp: order.app) } catch {
      if error.code == .itemNotFound { throw await nothingAtAll(order) }
      throw await secretFailure(error, subject)
    }
    try await console.print("Removed of \(subject): \(Self.items(count)).")
    if let rights = await rights(of: order.app) { await console.tell("Its rights are still there: \(rights)") }
  }

  /// The first items that an order means, and how many there are.
  private func matches(_ order: AppRemoval) async throws(CommandFailure) -> (items: [KeptItem], count: Int) {
    var query = WhorlAttributes(account: order.account)
    query.accessGroup = order.app
    var found: [KeptItem] = []
    var count = 0
    var last: [UInt8]?
    repeat {
      let part = try await kept(query, after: last)
      for item in part.items {
        if let account = order.account, Array(item.account.utf8) != Array(account.utf8) { continue }
        if let service = order.service, !item.isNamed(service) { continue }
        count += 1
        if found.count < Self.shownMatches { found.append(item) }
      }
      last = part.next
    } while last != nil
    return (found, count)
  }

  /// Whose items there are: the command's own first, then the apps by name, then what has none.
  private func apps() async throws(CommandFailure) -> [KeptItem.App] {
    var groups: Set<[UInt8]> = []
    var others: Set<KeptItem.App> = []
    var last: [UInt8]?
    repeat {
      let part = try await kept(WhorlAttributes(), after: last)
      for item in part.items {
        if case .group(let bytes) = item.app { groups.insert(bytes) } else { others.insert(item.app) }
      }
      last = part.next
    } while last != nil
    let named = groups.sorted { $0.lexicographicallyPrecedes($1) }.map(KeptItem.App.group)
    return [.own].filter(others.contains) + named + [.none].filter(others.contains)
  }

  private func kept(
    _ query: WhorlAttributes, after reference: [UInt8]?
  ) async throws(CommandFailure) -> (items: [KeptItem], next: [UInt8]?) {
    do throws(WhorlError) { return try await service.kept(query, after: reference) } catch {
      throw await secretFailure(error, "the secrets of apps")
    }
  }

  private func nothing(of order: AppRemoval) -> CommandFailure {
    CommandFailure(.notFound, "\(Self.subject(order)): there is no such item; whorl list --all shows what there is")
  }

  private func nothingAtAll(_ order: AppRemoval) async -> CommandFailure {
    let subject = Self.subject(order)
    let remedy =
      if let rights = await rights(of: order.app) {
        "its rights are there: \(rights)"
      } else if order.app == CommandItems.service {
        "what whorl keeps itself goes with whorl rm NAME and whorl key delete NAME"
      } else {
        "whorl list --all shows which apps keep something"
      }
    return CommandFailure(.notFound, "no app called \(subject) keeps anything; \(remedy)")
  }

  /// How to remove the rights of an app (LARightStore), which are of a group of their own; nil where there are none.
  private func rights(of app: String) async -> String? {
    let group = app + ".LARightStore"
    var query = WhorlAttributes()
    query.accessGroup = group
    guard let part = try? await service.kept(query, after: nil), !part.items.isEmpty else { return nil }
    return "whorl rm --app \(Escaping.operand(group))"
  }

  /// What an order is about, for a message.
  private static func subject(_ order: AppRemoval) -> String {
    let parts = [order.service, order.account, order.app].compactMap { $0 }.map(Escaping.quoted)
    return parts.joined(separator: " of ")
  }

  private static func items(_ count: Int) -> String { "\(count) item\(count == 1 ? "" : "s")" }

  private static func line(_ item: KeptItem) -> String {
    let requirement = Requirement(constraints: item.constraints)?.rawValue
    let words = requirement ?? Escaping.shown(item.constraints.joined(separator: "+"), limit: 256)
    let columns = [
      item.app.shown, KeptItem.column(item.itemClass), KeptItem.column(item.name), KeptItem.column(item.account),
      words + shown(item.item.protection, isGone: item.isGone),
    ]
    return columns.joined(separator: "\t")
  }

  private static func object(_ item: KeptItem) -> JSONText {
    func text(_ value: String) -> JSONText { value.isEmpty ? .null : .text(value) }
    return .object(
      [
        .init("app", item.app == .own ? .text(CommandItems.service) : text(item.group)),
        .init("group", text(item.group)), .init("class", .text(item.itemClass)), .init("name", text(item.name)),
        .init("account", text(item.account)),
      ] + guards(item.constraints, item.item.protection, isGone: item.isGone))
  }
}
