import Glibc

/// What one fuzz target does.
public protocol FuzzTarget {
  /// Inputs that go deep: what the fuzzer begins with.
  static var seeds: [[UInt8]] { get throws }

  /// One run. What must hold is said with `require`.
  func run(_ input: [UInt8]) throws
}

/// Ends the process, which makes libFuzzer keep the input, unless `condition` holds.
public func require(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
  guard !condition else { return }
  say("does not hold: \(message()) (\(file):\(line))")
  abort()
}

/// Holds for every error text: one line for people, of bounded length.
public func requireLine(_ text: String, file: StaticString = #fileID, line: UInt = #line) {
  require(!text.isEmpty && text.utf8.count <= 1024, "an error text of \(text.utf8.count) bytes", file: file, line: line)
  let odd = text.unicodeScalars.first { scalar in
    // What ends a line or turns its direction round.
    [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
  }
  require(odd == nil, "an error text of one line: \(text.debugDescription)", file: file, line: line)
}

/// Runs a target on one input, within the memory that an input of that length may take.
public func runOnce(_ target: some FuzzTarget, _ data: UnsafePointer<UInt8>?, _ count: Int) {
  let input = Array(UnsafeBufferPointer(start: data, count: count))
  MemoryMeter.begin()
  do {
    try target.run(input)
  } catch {
    require(false, "the target threw \(error)")
  }
  let most = MemoryMeter.end()
  require(
    most <= MemoryMeter.fixed + MemoryMeter.perByte * count,
    "an input of \(count) bytes took \(most) bytes of memory")
}

/// The program: hands over to libFuzzer; with `-seeds=FOLDER` writes the target's seeds there instead.
public func runFuzzer<Target: FuzzTarget>(
  _: Target.Type, _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
  _ one: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> Int32 {
  if count == 2, let argument = arguments[1].map({ String(cString: $0) }), argument.hasPrefix("-seeds=") {
    return writeSeeds(Target.self, to: String(argument.dropFirst(7)))
  }
  MemoryMeter.install()
  var count = count
  var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments
  return fuzzerRunDriver(&count, &arguments, one)
}

private func writeSeeds<Target: FuzzTarget>(_: Target.Type, to folder: String) -> Int32 {
  do {
    for (index, seed) in try Target.seeds.enumerated() {
      let path = "\(folder)/seed-\(index)"
      guard let file = fopen(path, "w") else {
        say("\(path) cannot be written")
        return 1
      }
      fwrite(seed, 1, seed.count, file)
      fclose(file)
    }
    return 0
  } catch {
    say("no seeds: \(error)")
    return 1
  }
}

/// libFuzzer's way in for programs with a main function of their own.
@_silgen_name("LLVMFuzzerRunDriver")
private func fuzzerRunDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ one: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> Int32

private func say(_ line: String) {
  let bytes = Array("fuzz: \(line)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
