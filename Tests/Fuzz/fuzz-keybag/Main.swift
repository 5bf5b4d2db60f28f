import Keychain
import SecretMemory

@testable import FuzzKit

/// The first byte of an input says what the rest is.
struct KeybagTarget: FuzzTarget {
  private let forms = KeyForms()
  private let rows: KeybagRows

  init() throws { rows = try KeybagRows() }

  func run(_ input: [UInt8]) throws {
    var input = FuzzInput(input)
    switch input.choice(4) {
    case 0: forms.parameters(input.all())
    case 1: try forms.recoveryKey(input.all())
    default: try rows.run(&input)
    }
  }

  static var seeds: [[UInt8]] {
    get throws { try KeyForms.seeds(0, 1) + KeybagRows.seeds(2) }
  }
}

// libFuzzer calls it from one thread.
nonisolated(unsafe) private let target = Result { try KeybagTarget() }

/// What libFuzzer runs each input through.
@_cdecl("LLVMFuzzerTestOneInput") public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do { runOnce(try target.get(), data, count) } catch { require(false, "no target: \(error)") }
  return 0
}

/// The program.
@_cdecl("fuzz_keybag_main") public func main(
  _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 { runFuzzer(KeybagTarget.self, count, arguments, testOneInput) }
