import Keychain
import SecretMemory

@testable import FuzzKit
@testable import Keychain

/// What stretches a passcode, and the recovery key as people type it.
struct KeyForms {
  func parameters(_ bytes: [UInt8]) {
    guard let parameters = StretchingParameters(bytes) else { return }
    require(parameters.bytes == bytes, "stretching parameters are written as they were read")
    require(
      (1...16).contains(parameters.passes) && (8...1 << 20).contains(parameters.kibibytes),
      "nothing asks for more than 16 passes over 1 GiB")
  }

  func recoveryKey(_ bytes: [UInt8]) throws {
    guard let key = try RecoveryKey(typed: try secret(bytes)) else { return }
    let text = try key.text()
    let shown = text.withUnsafeBytes { Array($0) }
    require(Self.plain(shown) == Self.plain(bytes), "a recovery key is shown as it was typed")
    guard let again = try RecoveryKey(typed: text) else { return require(false, "a recovery key can be typed") }
    require(SecretBytes.constantTimeEqual(key.secret, again.secret), "a recovery key is the same when typed again")
    // One wrong character is noticed nearly always, so that two that are both taken differ in more.
    require(Self.plain(shown).count == 35, "a recovery key has 35 characters")
  }

  /// What counts of a typed key.
  private static func plain(_ bytes: [UInt8]) -> [UInt8] {
    bytes.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }.map { byte in
      switch byte {
      case UInt8(ascii: "o"), UInt8(ascii: "O"): UInt8(ascii: "0")
      case UInt8(ascii: "i"), UInt8(ascii: "I"), UInt8(ascii: "l"), UInt8(ascii: "L"): UInt8(ascii: "1")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 32
      default: byte
      }
    }
  }

  static func seeds(_ parameters: UInt8, _ recoveryKey: UInt8) throws -> [[UInt8]] {
    var result = [[parameters] + StretchingParameters(cost: .high).bytes]
    result.append([parameters] + StretchingParameters(cost: .none).bytes)
    for _ in 0..<3 {
      let text = try RecoveryKey().text().withUnsafeBytes { Array($0) }
      result.append([recoveryKey] + text)
      result.append([recoveryKey] + text.filter { $0 != UInt8(ascii: "-") }.map { $0 | ($0 > 64 ? 32 : 0) })
    }
    return result
  }
}
