import Foundation
import TestKit

/// A bench whose catalogues and system settings are its own: pam_host runs in a mount namespace.
struct LanguageBench: Sendable {
  let bench: Bench

  static let languages = ["de", "es", "fr", "ja", "zh_CN"]

  /// Compiles the project's translations into the bench's folder.
  init() async throws {
    bench = try await Bench()
    try bench.writeService()
    _ = try await bench.buildHost()
    for language in LanguageBench.languages {
      try await compile(Bench.projectFolder + "/pam/po/\(language).po", as: language)
    }
  }

  /// Where a language's catalogue lies, in a folder that is there.
  func catalogue(_ language: String) throws -> String {
    let folder = bench.folder("locale/\(language)/LC_MESSAGES")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    return folder + "/whorl.mo"
  }

  /// Compiles the .po file at `path` as that language's catalogue.
  func compile(_ path: String, as language: String) async throws {
    let file = try catalogue(language)
    let ended = try await RunningProgram.run(
      "/usr/bin/msgfmt", ["--endianness=little", "--no-hash", "-o", file, path])
    guard ended.status == 0 else { throw BenchError("\(path): \(ended.errorText)") }
  }

  /// Writes a file of the system's settings, such as "locale.conf".
  func writeSetting(_ text: String, to name: String, mode: UInt32 = 0o644) throws {
    try FileManager.default.createDirectory(
      atPath: bench.folder("etc/default"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    try bench.folder.write(text, to: "etc/\(name)", mode: mode)
  }

  /// What pam_host prints where these variables, and none else that speaks of languages, are set.
  ///
  /// - Parameter isSetUserID: whether it is a set-user-ID program that nobody starts.
  func lines(
    _ variables: [String: String], _ options: [String] = [], isSetUserID: Bool = false
  ) async throws -> [String] {
    let host =
      isSetUserID
      ? ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/run/set-user-id-host"]
      : ["/run/host"]
    var environment = variables
    environment["PATH"] = Bench.plainEnvironment["PATH"]
    environment["DBUS_SYSTEM_BUS_ADDRESS"] = bench.address
    let ended = try await RunningProgram.run(
      "/usr/bin/unshare",
      ["--mount", "--propagation", "private", Bench.tool("languages.sh"), bench.folder.path] + host + options
        + [bench.folder("pam.d"), "whorl-test", "root"], environment: environment)
    let text = ended.text + ended.errorText
    return text.split(separator: "\n").map(String.init) + (ended.status == 0 ? [] : ["\(ended.end)"])
  }
}
