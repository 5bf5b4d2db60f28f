import Foundation
import TestKit
import Testing

@Suite struct SyntheticFingerTests {
  @Test func `The same seed and press number draw the same image`() {
    let again = SyntheticFinger(pattern: .whorl, seed: SyntheticFinger.whorl.seed)
    #expect(again.press(3) == SyntheticFinger.whorl.press(3))
    #expect(again.press(3) != again.press(4))
    #expect(again.press(3) != SyntheticFinger.secondWhorl.press(3))
  }

  @Test(arguments: SyntheticFinger.names)
  func `Every named finger shows ridges and valleys alike`(name: String) throws {
    let image = try #require(SyntheticFinger.named(name)).press(1)
    #expect(image.width == 256 && image.height == 256)
    let dark = image.pixels.count { $0 < 100 }
    let light = image.pixels.count { $0 > 156 }
    #expect(dark > image.pixels.count / 4 && light > image.pixels.count / 4)
  }

  @Test func `A name that no finger has gives none`() {
    #expect(SyntheticFinger.named("toe") == nil)
  }

  @Test func `An image survives being written and read as PGM`() throws {
    let folder = try TemporaryFolder()
    let image = SyntheticFinger.arch.press(2)
    try image.write(pgm: folder("arch.pgm"))
    #expect(try FingerImage(pgm: folder("arch.pgm")) == image)
  }

  @Test(arguments: [
    "", "P5\n", "P2\n2 2\n255\n1 2 3 4", "P5\n2 2\n255\nabc", "P5\n99999 2\n255\nab", "P5 2 2 65535 ab",
  ])
  func `What is no 8-bit PGM is refused`(text: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(text, to: "bad.pgm")
    #expect(throws: FingerImage.NotPGM.self) { try FingerImage(pgm: path) }
  }
}
