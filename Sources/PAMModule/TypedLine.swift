import CPAM
import CSystemd

/// A password as it is being typed, in memory of the caller's that is wiped when this ends. The keys that correct a line
/// are the terminal's own, as the person has set them.
struct TypedLine: ~Copyable {
  /// What the last key made of the line.
  enum Progress: Equatable {
    /// The person is not done.
    case open
    /// Enter.
    case done
    /// Ctrl-C, or Ctrl-D: nothing that was typed counts.
    case cancelled
  }

  private let memory: UnsafeMutableBufferPointer<CChar>
  private var keys: Keys
  private var length = 0
  private var isLiteral = false
  /// Whether the line cannot be anybody's password: longer than libpam takes, or with a NUL in it.
  private(set) var isUnusable = false

  /// How many bytes the memory needs, the NUL among them: libpam's PAM_MAX_RESP_SIZE.
  static let capacity = 512

  init(_ memory: UnsafeMutableBufferPointer<CChar>, keys: Keys) {
    self.memory = memory
    self.keys = keys
    memory.initialize(repeating: 0)
  }

  deinit { wipe(memory) }

  /// Takes the terminal's keys from now on.
  mutating func use(_ keys: Keys) { self.keys = keys }

  /// Whether nothing is typed, or all of it was taken back.
  var isEmpty: Bool { length == 0 && !isUnusable }

  /// Takes one byte from the terminal.
  mutating func take(_ byte: UInt8) -> Progress {
    if isLiteral {
      isLiteral = false
      append(byte)
      return .open
    }
    switch byte {
    case 0x0a, 0x0d: return .done
    case 0: isUnusable = true
    case keys.interrupt, keys.end:
      clear()
      return .cancelled
    case keys.erase, 0x08, 0x7f: eraseCharacter()
    case keys.kill, keys.eraseWord: clear()
    case keys.literal: isLiteral = true
    default: append(byte)
    }
    return .open
  }

  /// Lends the line as C wants it.
  func withText<R>(_ body: (CText) -> R) -> R? {
    guard let start = memory.baseAddress, length < memory.count else { return nil }
    return body(CText(start))
  }

  private mutating func append(_ byte: UInt8) {
    guard length + 1 < memory.count else {
      isUnusable = true
      return
    }
    memory[length] = CChar(bitPattern: byte)
    length += 1
  }

  private mutating func eraseCharacter() {
    // What is too long or holds a NUL is not kept whole: only taking all of it back mends it.
    while length > 0 {
      length -= 1
      let byte = UInt8(bitPattern: memory[length])
      memory[length] = 0
      // The bytes that follow the first one of a character in UTF-8.
      guard keys.isUTF8, byte & 0xc0 == 0x80 else { return }
    }
  }

  /// Wipes what was typed.
  mutating func clear() {
    wipe(memory)
    length = 0
    isUnusable = false
  }

  /// The keys that mean something; 0 for one that is switched off, which is no key.
  struct Keys: Equatable {
    var interrupt: UInt8 = 0x03
    var end: UInt8 = 0x04
    var erase: UInt8 = 0x7f
    var kill: UInt8 = 0x15
    var eraseWord: UInt8 = 0x17
    var literal: UInt8 = 0x16
    /// Whether one character may be several bytes.
    var isUTF8 = true

    init() {}

    init(_ settings: termios) {
      var settings = settings
      isUTF8 = settings.c_iflag & tcflag_t(IUTF8) != 0
      withUnsafeBytes(of: &settings.c_cc) { codes in
        interrupt = codes[Int(VINTR)]
        end = codes[Int(VEOF)]
        erase = codes[Int(VERASE)]
        kill = codes[Int(VKILL)]
        eraseWord = codes[Int(VWERASE)]
        literal = codes[Int(VLNEXT)]
      }
    }
  }
}

private func wipe(_ memory: UnsafeMutableBufferPointer<CChar>) {
  if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
}
