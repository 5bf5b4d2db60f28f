import KeychainArchive

@testable import FuzzKit

/// The first byte of an input says what the rest is.
struct ExportTarget: FuzzTarget {
  private let files: ExportFiles
  private let items: ImportedItems

  init() throws {
    files = try ExportFiles()
    items = try ImportedItems()
  }

  func run(_ input: [UInt8]) throws {
    var input = FuzzInput(input)
    switch input.choice(6) {
    case 0: try files.raw(input.all())
    case 1: try files.records(&input)
    case 2: try files.writtenAndAltered(&input)
    case 3: try PlainLists().read(input.all(), .csv)
    case 4: try PlainLists().read(input.all(), .pairs)
    default: try items.run(&input)
    }
  }

  static var seeds: [[UInt8]] {
    get throws { try ExportFiles.seeds(0, 1, 2) + PlainLists.seeds(3, 4) + ImportedItems.seeds(5) }
  }
}

// libFuzzer calls it from one thread.
nonisolated(unsafe) private let target = Result { try ExportTarget() }

/// What libFuzzer runs each input through.
@_cdecl("LLVMFuzzerTestOneInput") public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do { runOnce(try target.get(), data, count) } catch { require(false, "no target: \(error)") }
  return 0
}

/// The program.
@_cdecl("fuzz_exports_main") public func main(
  _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 { runFuzzer(ExportTarget.self, count, arguments, testOneInput) }
