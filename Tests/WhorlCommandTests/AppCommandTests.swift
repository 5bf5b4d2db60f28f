import Foundation
import GLibLoop
import Testing
import WhorlClient

@testable import WhorlCommand

/// What apps keep in the keychain, listed and removed.
@Suite(.timeLimit(.minutes(2))) struct AppCommandTests {
  init() { GLibLoop.startThread() }

  private static func item(
    _ group: String?, _ service: String, _ account: String?, _ constraints: [WhorlConstraint] = [],
    change: (inout WhorlItem) -> Void = { _ in }
  ) -> WhorlItem {
    var item = WhorlItem()
    item.attributes = WhorlAttributes(itemClass: "generic-password", service: service, account: account)
    item.attributes.accessGroup = group
    item.constraints = constraints
    item.protection = "always"
    change(&item)
    return item
  }

  @GLibActor private func fixture(_ items: [WhorlItem]) -> Fixture {
    let fixture = Fixture()
    fixture.service.everything = items
    fixture.console.inputIsTerminal = true
    return fixture
  }

  private static let shop = [
    item("shop", "store", "ada"), item("shop", "store", "bob"), item("shop", "api", "ada"), item("bank", "api", "ada"),
    item("", "whorl", "ada"), item(nil, "old", "ada"),
  ]

  // MARK: - The list

  @Test @GLibActor func `everything is listed by app, the command's own first and what has none last`() async {
    let fixture = fixture([
      Self.item("", "old", "zoe"),
      Self.item("shop", "store", "ada", [.biometryAny]) { $0.protection = "when-unlocked" },
      Self.item("", "whorl", "mail", [.userPresence]),
      Self.item("bank", "api", "", [.biometryCurrentSet]) { $0.isInvalidated = true },
      Self.item("shop", "", nil, [.userPresence, .applicationPassword]) {
        $0.attributes.itemClass = "internet-password"
        $0.attributes.service = nil
        $0.attributes.server = "example.org"
        $0.attributes.port = 8080
        $0.attributes.path = "in"
      },
      Self.item("", "org.whorl.keyring", "login", [.userPresence]),
      Self.item("shop", "", nil, [.privateKeyUsage, .biometryAny]) {
        $0.attributes.itemClass = "key"
        $0.attributes.service = nil
        $0.attributes.applicationTag = Array("org.example.tag".utf8)
      },
    ])
    #expect(await fixture.run("list", "--all") == .ok)
    #expect(
      fixture.console.printed == [
        "whorl\tgeneric-password\twhorl\tmail\tpresence",
        "whorl\tgeneric-password\torg.whorl.keyring\tlogin\tpresence",
        "bank\tgeneric-password\tapi\t-\tcurrent gone",
        "shop\tgeneric-password\tstore\tada\tany when-unlocked",
        "shop\tinternet-password\texample.org:8080/in\t-\tuser-presence+application-password",
        "shop\tkey\torg.example.tag\t-\tany",
        "-\tgeneric-password\told\tzoe\tnone",
      ])
  }

  @Test func `a key is shown by its label, else its tag, else its application label`() {
    var key = Self.item("shop", "", nil) {
      $0.attributes.itemClass = "key"
      $0.attributes.applicationLabel = [0, 0xAB, 0x0C]
    }
    #expect(KeptItem(key).name == "00ab0c")
    key.attributes.applicationTag = [0xFF]
    #expect(KeptItem(key).name == "00ab0c", "bytes that are no text")
    key.attributes.applicationTag = Array("tag".utf8)
    #expect(KeptItem(key).name == "tag")
    key.attributes.label = "label"
    #expect(KeptItem(key).name == "label")
  }

  @Test @GLibActor func `an app's texts move no terminal and pass for nothing else`() async throws {
    let names = ["\u{1b}[2J\n\u{202e}", "whorl", "-", "o\u{308}", "ö"]
    let items = names.map { Self.item($0, $0, $0) } + [Self.item("", "whorl", "mail")]
    let text = fixture(items)
    #expect(await text.run("list", "--all") == .ok)
    #expect(text.console.printed.count == items.count)
    #expect(text.console.printed[0] == "whorl\tgeneric-password\twhorl\tmail\tnone")
    for line in text.console.printed {
      #expect(line.split(separator: "\t", omittingEmptySubsequences: false).count == 5)
      #expect(!line.unicodeScalars.contains { $0 != "\t" && $0.properties.generalCategory == .control })
      #expect(!line.contains("\u{202e}"))
    }
    let apps = text.console.printed.map { String($0.prefix { $0 != "\t" }) }
    #expect(apps.contains("\"whorl\"") && apps.contains("\"-\""))
    #expect(Set(apps.map { Array($0.utf8) }).count == items.count, "\(apps)")

    let json = fixture(items)
    #expect(await json.run("list", "--all", "--json") == .ok)
    let list = try #require(
      try JSONSerialization.jsonObject(with: Data(json.console.printed.joined(separator: "\n").utf8))
        as? [[String: Any]])
    #expect(list.count == items.count)
    #expect(list[0]["app"] as? String == "whorl" && list[0]["group"] is NSNull)
    #expect(list[0]["requires"] as? String == "none" && list[0]["gone"] as? Bool == false)
    #expect(
      Set(list.compactMap { ($0["group"] as? String).map { Array($0.utf8) } }) == Set(names.map { Array($0.utf8) }))
  }

  @Test @GLibActor func `nothing is no line, and an empty array`() async {
    let text = fixture([])
    #expect(await text.run("list", "--all") == .ok)
    #expect(text.console.printed.isEmpty)
    let json = fixture([])
    #expect(await json.run("list", "-a", "--json") == .ok)
    #expect(json.console.printed == ["[]"])
  }

  // MARK: - Removing

  @Test @GLibActor func `all that an app keeps goes after a yes, and nothing else`() async {
    let fixture = fixture(Self.shop)
    fixture.console.confirms = true
    #expect(await fixture.run("rm", "--app", "shop") == .ok)
    #expect(fixture.console.questions == ["Remove all that \"shop\" keeps (3 items) for good?"])
    #expect(fixture.console.printed == ["Removed of \"shop\": 3 items."])
    #expect(fixture.service.everything == Array(Self.shop.dropFirst(3)))
  }

  @Test @GLibActor func `a no, and nobody to ask, leave it all`() async {
    let no = fixture(Self.shop)
    #expect(await no.run("rm", "--app", "shop") == .cancelled)
    #expect(no.complaint.contains("\"shop\" was cancelled"))
    let script = fixture(Self.shop)
    script.console.inputIsTerminal = false
    #expect(await script.run("rm", "--app", "shop") == .usage)
    #expect(script.complaint.contains("--yes"))
    for fixture in [no, script] {
      #expect(fixture.service.everything == Self.shop)
      #expect(!fixture.service.calls.contains { $0.hasPrefix("remove") })
    }
    #expect(await script.run("rm", "--app", "shop", "--yes") == .ok)
    #expect(script.service.everything.count == 3)
    #expect(script.console.questions.isEmpty)
  }

  @Test(arguments: [["--yes"], []])
  @GLibActor func `an app that keeps nothing is not found, and nothing is asked`(more: [String]) async {
    for (app, remedy) in [("shops", "whorl list --all"), ("whorl", "whorl rm NAME")] {
      let fixture = fixture(Self.shop)
      let commands = Commands(
        console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
      #expect(await commands.run(["rm", "--app", app] + more) == .notFound)
      #expect(fixture.complaint.contains(remedy))
      #expect(fixture.console.questions.isEmpty)
      #expect(fixture.service.everything == Self.shop)
    }
  }

  @Test @GLibActor func `one item goes by its account, or with the service where that is not enough`() async {
    let fixture = fixture(Self.shop)
    #expect(await fixture.run("rm", "--app", "shop", "bob") == .ok)
    #expect(fixture.service.calls.last == "remove one shop store bob")
    #expect(await fixture.run("rm", "--app", "shop", "ada") == .usage)
    #expect(
      fixture.complaint
        == "\"ada\" of \"shop\": 2 items match and none was removed; say which with --service, the third column")
    #expect(
      fixture.console.told == ["shop\tgeneric-password\tstore\tada\tnone", "shop\tgeneric-password\tapi\tada\tnone"])
    #expect(fixture.service.everything.count == Self.shop.count - 1)
    #expect(await fixture.run("rm", "--app", "shop", "--service", "api", "ada") == .ok)
    #expect(fixture.service.calls.last == "remove one shop api ada")
    #expect(await fixture.run("rm", "--app", "shop", "--service", "store") == .ok)
    #expect(fixture.service.everything == Array(Self.shop.dropFirst(3)))
    #expect(fixture.console.questions.isEmpty)
  }

  @Test @GLibActor func `where not even that tells them apart none is removed, and not all are shown`() async {
    let many = (UInt32(0)..<30).map { port in
      Self.item("shop", "", "ada") {
        $0.attributes.itemClass = "internet-password"
        $0.attributes.service = nil
        $0.attributes.server = "example.org"
        $0.attributes.port = port
      }
    }
    let fixture = fixture(many)
    #expect(await fixture.run("rm", "--app", "shop", "ada", "--service", "example.org") == .usage)
    #expect(fixture.console.told.count == 21)
    #expect(fixture.console.told.last == "and 10 more")
    #expect(fixture.service.everything.count == 30)
    #expect(await fixture.run("rm", "--app", "shop", "ada", "--service", "example.org:7") == .ok)
    #expect(fixture.service.everything.count == 29)
  }

  @Test @GLibActor func `what is not there is said to be, in another spelling too`() async {
    let fixture = fixture([Self.item("shop", "store", "zo\u{308}")])
    #expect(await fixture.run("rm", "--app", "shop", "zö") == .notFound)
    #expect(await fixture.run("rm", "--app", "shop", "--service", "other") == .notFound)
    #expect(fixture.service.everything.count == 1)
    #expect(await fixture.run("rm", "--app", "shop", "zo\u{308}") == .ok)
  }

  @Test @GLibActor func `an app's rights are of another group, and named`() async {
    let fixture = fixture([Self.item("shop", "store", "ada"), Self.item("shop.LARightStore", "LARightStore", "vault")])
    #expect(await fixture.run("rm", "--app", "shop", "--yes") == .ok)
    #expect(fixture.console.told == ["Its rights are still there: whorl rm --app shop.LARightStore"])
    #expect(await fixture.run("rm", "--app", "shop", "--yes") == .notFound)
    #expect(fixture.complaint.hasSuffix("its rights are there: whorl rm --app shop.LARightStore"))
    #expect(await fixture.run("rm", "--app", "shop.LARightStore", "--yes") == .ok)
    #expect(fixture.service.everything.isEmpty)
  }

  // MARK: - The words

  @Test func `the words are understood`() throws {
    func parse(_ words: String...) throws -> Invocation { try InvocationParser.parse(words) }
    #expect(try parse("list", "--all") == .listAll)
    #expect(try parse("list", "-a", "--json") == .json(.listAll))
    #expect(try parse("rm", "--app", "shop") == .removeOfApp(AppRemoval(app: "shop")))
    #expect(try parse("rm", "ada", "--app=shop") == .removeOfApp(AppRemoval(app: "shop", account: "ada")))
    #expect(
      try parse("rm", "--app", "shop", "-y", "--service", "api", "--", "-ada")
        == .removeOfApp(AppRemoval(app: "shop", account: "-ada", service: "api", confirmed: true)))
    #expect(try parse("rm", "mail") == .remove(name: "mail"))
  }

  @Test(arguments: [
    ["--app"], ["--app", ""], ["--app="], ["--app", "", "ada"], ["--app", "shop", ""], ["--app", "shop", "--service="],
    ["--app", "shop", "ada", "bob"], ["--service", "api", "ada"], ["--yes", "ada"], ["--yes"], ["--all"],
    ["--app", "shop", "--app", "bank"], ["--app", "shop", "--service", "a", "--service", "b"], ["", "--app", "shop"],
    ["--app", "shop", "--json"],
  ])
  @GLibActor func `nothing empty or missing or twofold stands for all`(words: [String]) async {
    let fixture = fixture(Self.shop)
    fixture.console.confirms = true
    let commands = Commands(console: fixture.console, surroundings: fixture.surroundings, service: fixture.service)
    #expect(await commands.run(["rm"] + words) == .usage)
    #expect(fixture.service.calls.isEmpty)
  }
}
