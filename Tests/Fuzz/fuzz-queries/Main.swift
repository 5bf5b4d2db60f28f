import Bus
import Enclave
import WhorlDaemon

@testable import FuzzKit

/// The first byte of an input says which part of a call the rest is.
struct QueryTarget: FuzzTarget {
  private let calls = CallParts()

  func run(_ input: [UInt8]) {
    var input = FuzzInput(input)
    let part = input.choice(4)
    let value = input.flag() ? BusValue.anything(&input, depth: 0) : BusValue.options(&input)
    do {
      switch part {
      case 0: try calls.attributes(value)
      case 1: try calls.query(value)
      case 2: try calls.accessControl(value)
      default: try calls.request(value)
      }
    } catch {
      CallParts.check(error)
    }
  }

  static var seeds: [[UInt8]] { CallParts.seeds }
}

/// What libFuzzer runs each input through.
@_cdecl("LLVMFuzzerTestOneInput") public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  runOnce(QueryTarget(), data, count)
  return 0
}

/// The program.
@_cdecl("fuzz_queries_main") public func main(
  _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 { runFuzzer(QueryTarget.self, count, arguments, testOneInput) }
