import Glibc
import Testing

@testable import ReaderSandbox

/// What is asked of kernels of different age.
struct PowersTests {
  @Test(
    arguments: [
      (1, 0x1fff, 0, 0), (2, 0x3fff, 0, 0), (3, 0x7fff, 0, 0), (4, 0x7fff, 3, 0), (5, 0xffff, 3, 0), (6, 0xffff, 3, 3),
      (9, 0xffff, 3, 3),
    ] as [(Int32, UInt64, UInt64, UInt64)])
  func `each version of Landlock is asked for what it knows`(
    _ version: Int32, _ files: UInt64, _ network: UInt64, _ scopes: UInt64
  ) {
    let powers = PathRules.Powers(version: version)
    #expect(powers.files == files)
    #expect(powers.network == network)
    #expect(powers.scopes == scopes)
  }

  @Test func `this kernel takes the rules of every version before its own`() throws {
    guard PathRules.version >= 1 else { return }
    for version in 1...PathRules.version { close(try PathRules.makeRuleset(PathRules.Powers(version: version))) }
  }

  @Test func `only absolute paths of the known variables are exempt`() {
    let exemptions = Exemptions(
      .ownFolder(environment: [
        "FP_VIRTUAL_IMAGE": "/tmp/a/image", "FP_VIRTUAL_DEVICE": "relative/device", "UMOCKDEV_DIR": "mock",
        "OTHER": "/etc/x",
      ]))
    #expect(exemptions.socketFolders == ["/tmp/a"])
    #expect(exemptions.mockFolder == nil)
    #expect(Exemptions(.system).socketFolders.isEmpty)
    #expect(!Exemptions(.system).hasVirtualReaders)
  }
}
