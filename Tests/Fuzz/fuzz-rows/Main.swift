import Keychain
import SecretMemory

@testable import FuzzKit

/// The first byte of an input says what the rest is.
struct RowTarget: FuzzTarget {
  private let forms = ByteForms()
  private let fingers: FingerRows
  private let items: ItemRows
  private let records: RecordRows

  init() throws {
    fingers = try FingerRows()
    items = try ItemRows()
    records = try RecordRows()
  }

  func run(_ input: [UInt8]) throws {
    var input = FuzzInput(input)
    switch input.choice(6) {
    case 0: forms.body(input.all())
    case 1: forms.accessControl(input.all())
    case 2: forms.value(&input)
    case 3: try fingers.run(&input)
    case 4: try items.run(&input)
    default: try records.run(&input)
    }
  }

  static var seeds: [[UInt8]] {
    get throws { ByteForms.seeds(0, 1, 2) + FingerRows.seeds(3) + (try ItemRows.seeds(4)) + RecordRows.seeds(5) }
  }
}

// libFuzzer calls it from one thread.
nonisolated(unsafe) private let target = Result { try RowTarget() }

/// What libFuzzer runs each input through.
@_cdecl("LLVMFuzzerTestOneInput") public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do { runOnce(try target.get(), data, count) } catch { require(false, "no target: \(error)") }
  return 0
}

/// The program.
@_cdecl("fuzz_rows_main") public func main(
  _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 { runFuzzer(RowTarget.self, count, arguments, testOneInput) }
