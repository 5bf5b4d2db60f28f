import Foundation
import SecretMemory
import TestKit
import Testing

@testable import Keychain

/// Whose a keychain is, and its end.
@Suite struct OwnerTests {
  @Test(arguments: ["paul", "", "CORP\\paul", "paul@corp", "日本", String(repeating: "x", count: 255)])
  func `The owner's name is kept, and is not readable in the file`(_ name: String) throws {
    let store = try TestStore()
    #expect(try store.open().owner() == nil)
    try store.open().setOwner(name)
    #expect(try store.open().owner() == name)
    try store.open().setOwner("other")
    #expect(try store.open().owner() == "other")
    for (_, data) in try store.files() where name.utf8.count > 3 {
      #expect(data.range(of: Data(name.utf8)) == nil)
    }
  }

  @Test func `An owner's name that was altered, or is another keychain's, is noticed`() throws {
    let store = try TestStore()
    try store.open().setOwner("paul")
    try store.open(1001).setOwner("ada")
    var foreign: [UInt8] = []
    try store.editor(1001).rows("SELECT value FROM meta WHERE name = 'owner'") { (row) throws(KeychainError) in
      foreign = row.blob(0) ?? []
      return false
    }
    for value in [foreign, [], Array(foreign.dropLast())] {
      try store.editor().run("UPDATE meta SET value = ? WHERE name = 'owner'", [.blob(value)])
      #expect(throws: KeychainError.self) { try store.open().owner() }
    }
  }

  @Test func `A removed keychain is gone with all its files, and others stay`() throws {
    let store = try TestStore()
    try store.open().setOwner("paul")
    try store.open(1001).setOwner("ada")
    #expect(try KeychainRemoval.remove(directory: store.directory()))
    KeychainRemoval.removeLeftovers(in: store.folder("users"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder("users")) == ["1001"])
    #expect(try !KeychainRemoval.remove(directory: store.directory()))
    #expect(try store.open(1001).owner() == "ada")
    #expect(try store.open().owner() == nil, "a new one")
  }

  @Test func `What a crash left of a removed keychain goes later, and a keychain that cannot go stays whole`() throws {
    let store = try TestStore()
    try store.open().setOwner("paul")
    let left = store.folder("users/.removed-1")
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
    try Data("x".utf8).write(to: URL(fileURLWithPath: left + "/keychain.db"))
    KeychainRemoval.removeLeftovers(in: store.folder("users"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder("users")) == ["1000"])
    #expect(try !KeychainRemoval.remove(directory: store.folder("nowhere/1000")))
    #expect(try store.open().owner() == "paul")
  }

  @Test func `Removing follows no link out of the folder`() throws {
    let store = try TestStore()
    _ = try store.open()
    let outside = store.folder("outside")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: outside))
    #expect(symlink(outside, store.directory() + "/link") == 0)
    #expect(link(outside, store.directory() + "/hard") == 0)
    #expect(try KeychainRemoval.remove(directory: store.directory()))
    KeychainRemoval.removeLeftovers(in: store.folder("users"))
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "mine")
    #expect(symlink(store.folder.path, store.directory()) == 0)
    #expect(try KeychainRemoval.remove(directory: store.directory()))
    KeychainRemoval.removeLeftovers(in: store.folder("users"))
    #expect(FileManager.default.fileExists(atPath: outside))
  }
}
