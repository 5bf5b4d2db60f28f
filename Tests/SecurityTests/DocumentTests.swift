import Foundation
import TestKit
import Testing

/// What the documentation promises of names.
@Suite struct DocumentTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: SourceTree.path(path), encoding: .utf8)
  }

  private static let tables = [
    "Sources/Security/Security.docc/Names.md",
    "Sources/LocalAuthentication/LocalAuthentication.docc/NamesOfLocalAuthentication.md",
  ]

  @Test(arguments: tables) func `Every test that a table of names refers to is there`(table: String) throws {
    var count = 0
    for match in try text(table).matches(of: /\b([A-Za-z]+Tests)\/([A-Za-z]+Tests)\b/) {
      count += 1
      let path = "Tests/\(match.1)/\(match.2).swift"
      #expect(FileManager.default.fileExists(atPath: SourceTree.path(path)), "\(path)")
    }
    #expect(count > 10)
  }

  @Test(.enabled(if: SharedMaterial.path("SURFACE.md") != nil))
  func `Every name that keychain code needs is in the tables`() throws {
    let tables = try Self.tables.map(text).joined()
    let surface = try String(contentsOfFile: try #require(SharedMaterial.path("SURFACE.md")), encoding: .utf8)
    let lists = try #require(surface.firstRange(of: "## Functions")).lowerBound
    var missing: [String] = []
    for match in surface[lists...].matches(of: /`([A-Za-z][A-Za-z0-9]*)[^`]*`/) {
      let name = String(match.1)
      // The values of constants stand in such marks, too; they are short.
      guard name.hasPrefix("kSec") || name.hasPrefix("kCF") || name.hasPrefix("errSec") || name.hasPrefix("Sec"),
        !tables.contains("`\(name)`"), !tables.contains("``\(name)")
      else { continue }
      missing.append(name)
    }
    #expect(missing.isEmpty, "\(missing)")
  }
}
