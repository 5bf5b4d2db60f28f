import Foundation
import ReaderLink
import TestKit

/// Puts a finger, an image or a fault on libfprint's virtual image reader.
@main
struct PressFinger {
  static let usage = """
    usage: press-finger SOCKET FINGER [PRESS]     press a synthetic finger (PRESS: a number, 1 unless given)
           press-finger SOCKET --pgm FILE         press what a PGM image shows
           press-finger SOCKET --retry CODE       have the scan repeated (0 general, 1 too short, 2 not centred,
                                                  3 lift the finger, 4 too fast)
           press-finger SOCKET --error CODE       have the operation fail (libfprint's FpDeviceError, 0 to 257)
           press-finger --draw FINGER PRESS FILE  write the image as PGM
           press-finger --list                    names of the fingers
    SOCKET is what FP_VIRTUAL_IMAGE names. Waits up to 20 s for an operation that takes the finger; between the
    touches of one operation the reader must have asked for the next one.
    """

  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch let error as Usage {
      FileHandle.standardError.write(Data("press-finger: \(error.text)\n\(usage)\n".utf8))
      exit(2)
    } catch {
      FileHandle.standardError.write(Data("press-finger: \(error)\n".utf8))
      exit(1)
    }
  }

  struct Usage: Error { let text: String }

  static func run(_ arguments: [String]) async throws {
    guard let first = arguments.first else { throw Usage(text: "nothing to do") }
    if first == "--help" || first == "-h" { return print(usage) }
    if first == "--list" { return print(SyntheticFinger.names.joined(separator: "\n")) }
    if first == "--draw" {
      guard arguments.count == 4 else { throw Usage(text: "--draw takes a finger, a press number and a file") }
      return try finger(arguments[1]).press(number(arguments[2])).write(pgm: arguments[3])
    }
    guard arguments.count >= 2, !first.hasPrefix("--") else { throw Usage(text: "a socket and what to put on it") }
    let reader = VirtualReader(socket: first)
    let value = arguments.count > 2 ? arguments[2] : nil
    guard arguments.count <= 3 else { throw Usage(text: "too many arguments") }
    switch arguments[1] {
    case "--pgm":
      guard let value else { throw Usage(text: "--pgm takes a file") }
      try await reader.press(FingerImage(pgm: value))
    case "--retry":
      guard let value, let code = UInt8(value), let reason = RetryReason(rawValue: code) else {
        throw Usage(text: "--retry takes a code from 0 to 4")
      }
      try await reader.retry(reason)
    case "--error":
      guard let value, let code = Int32(value), code >= 0 else { throw Usage(text: "--error takes a code") }
      try await reader.fail(code)
    case let name:
      try await reader.press(finger(name), value.map(number) ?? 1)
    }
  }

  static func finger(_ name: String) throws -> SyntheticFinger {
    guard let finger = SyntheticFinger.named(name) else {
      throw Usage(text: "no finger is called \"\(name)\"; there are \(SyntheticFinger.names.joined(separator: ", "))")
    }
    return finger
  }

  static func number(_ text: String) throws -> Int {
    guard let number = Int(text) else { throw Usage(text: "\"\(text)\" is not a press number") }
    return number
  }
}
