import CPAM
import Testing

@testable import PAMModuleHosted

/// What was typed, and how it came out.
private struct Typed: Equatable {
  var end: TypedLine.Progress = .open
  var text = ""
  var isUnusable = false
}

/// Types these bytes into a line until it is done.
private func type(_ bytes: [UInt8], keys: TypedLine.Keys = TypedLine.Keys()) -> Typed {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: TypedLine.capacity) { memory in
    var typed = Typed()
    do {
      var line = TypedLine(memory, keys: keys)
      for byte in bytes {
        typed.end = line.take(byte)
        if typed.end != .open { break }
      }
      typed.text = line.withText { String(cString: $0) } ?? ""
      typed.isUnusable = line.isUnusable
    }
    #expect(memory.allSatisfy { $0 == 0 }, "wiped")
    return typed
  }
}

private func type(_ text: String) -> Typed { type(Array(text.utf8)) }

@Suite struct TypedLineTests {
  @Test func `a line is what was typed, to the key that ends it`() {
    #expect(type("pass word\nmore") == Typed(end: .done, text: "pass word"))
    #expect(type("pass\r") == Typed(end: .done, text: "pass"))
    #expect(type("pass") == Typed(text: "pass"))
    #expect(type("\n") == Typed(end: .done))
    #expect(type("Pässwörd 密\n") == Typed(end: .done, text: "Pässwörd 密"))
  }

  @Test func `keys take back a character, or all`() {
    #expect(type("ab\u{7f}c\n").text == "ac")
    #expect(type("ab\u{08}c\n").text == "ac")
    #expect(type("a密\u{7f}c\n").text == "ac")
    #expect(type("\u{7f}\u{7f}c\n").text == "c")
    #expect(type("ab\u{15}c\n").text == "c")
    #expect(type("a b\u{17}c\n").text == "c")
    var keys = TypedLine.Keys()
    keys.isUTF8 = false
    #expect(type([0x61, 0xc3, 0xa4, 0x7f, 0x62, 0x0a], keys: keys).text.utf8.count == 5, "a, the half of ä, b")
  }

  @Test func `what follows the literal key is a character like others`() {
    #expect(type("a\u{16}\u{03}b\n").text == "a\u{03}b")
    #expect(type("a\u{16}\u{15}\n").text == "a\u{15}")
  }

  @Test func `Ctrl-C and Ctrl-D leave nothing`() {
    #expect(type("abc\u{03}") == Typed(end: .cancelled))
    #expect(type("abc\u{04}") == Typed(end: .cancelled))
    #expect(type("\u{04}") == Typed(end: .cancelled))
  }

  @Test func `a key that is switched off is none`() {
    var keys = TypedLine.Keys()
    (keys.interrupt, keys.end, keys.kill, keys.eraseWord, keys.literal, keys.erase) = (0, 0, 0, 0, 0, 0)
    #expect(type([0x61, 0x03, 0x04, 0x15, 0x17, 0x16, 0x0a], keys: keys).text == "a\u{03}\u{04}\u{15}\u{17}\u{16}")
  }

  @Test func `511 bytes are a password, more are none, and neither is one with a NUL`() {
    let longest = Array(repeating: UInt8(0x78), count: TypedLine.capacity - 1)
    #expect(!type(longest + [0x0a]).isUnusable)
    #expect(type(longest + [0x0a]).text.utf8.count == 511)
    #expect(type(longest + [0x78, 0x0a]).isUnusable)
    #expect(type(longest + [0x78, 0x7f, 0x0a]).isUnusable, "what did not fit is not known any more")
    #expect(type(longest + [0x78, 0x15, 0x61, 0x0a]) == Typed(end: .done, text: "a"))
    #expect(type([0x61, 0, 0x0a]).isUnusable)
  }
}

@Suite struct SudoCommandLineTests {
  private func forbids(_ arguments: [String]) -> Bool {
    let bytes = Array(arguments.map { Array($0.utf8) + [0] }.joined())
    return bytes.withUnsafeBytes { SudoCommandLine.forbidsPrompt($0) }
  }

  @Test(arguments: [
    ["sudo", "-S", "true"], ["/usr/bin/sudo", "-kS"], ["sudo", "-A", "true"], ["sudo", "-n", "true"],
    ["sudo", "-u", "root", "-S", "true"], ["sudo", "-uroot", "-S"], ["sudo", "-Eu", "root", "-S"], ["sudo", "--stdin"],
    ["sudo", "--askpass", "a"], ["sudo", "--non-interactive", "a"], ["sudo", "--user", "root", "-S"],
    ["sudo", "--user=root", "-S"], ["sudo", "A=b", "-S", "true"], ["sudo", "-p", "", "-S"], ["sudoedit", "-S", "f"],
    ["sudo", "--std", "a"], ["sudo", "-hlocalhost", "-S"],
  ])
  func `sudo that takes the password elsewhere, or must not ask, is known`(arguments: [String]) {
    #expect(forbids(arguments))
  }

  @Test(arguments: [
    ["sudo", "true"], ["sudo", "ls", "-S"], ["sudo", "--", "-S"], ["sudo", "-p", "-S", "true"], ["sudo", "-u", "-S"],
    ["sudo", "--user", "-S", "true"], ["sudo", "-uSAn", "true"], ["sudo", "-i"], ["sudo", "-s"], ["sudo", "--shell"],
    ["sudo", "-k", "true"], ["sudo"], [], [""], ["-S"], ["su", "-S"], ["sudo", ""], ["sudo", "-"], ["notsudo", "-S"],
    ["sudo", "--preserve-env", "true"],
  ])
  func `any other is not`(arguments: [String]) {
    #expect(!forbids(arguments))
  }

  @Test func `a line that is cut off is read to its last whole word`() {
    let bytes = Array("sudo\u{0}-".utf8)
    #expect(!bytes.withUnsafeBytes { SudoCommandLine.forbidsPrompt($0) })
    for length in 0...40 {
      let cut = Array("sudo\u{0}-u\u{0}root\u{0}--user\u{0}x\u{0}-kS\u{0}true\u{0}".utf8.prefix(length))
      _ = cut.withUnsafeBytes { SudoCommandLine.forbidsPrompt($0) }
    }
  }
}

@Suite struct TextsTests {
  @Test func `every text is whole, and what is filled in is filled in`() {
    for text in Text.allCases {
      let written = withTextLine { line in
        "sudo".withCString { text.write(to: &line, service: $0, finger: .leftThumb, count: 2) }
        return line.withText { String(cString: $0) } ?? ""
      }
      #expect(!written.isEmpty && !written.contains("{") && !written.contains("}"), "\(written)")
      let template = text.english.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
      #expect(written.contains("(sudo)") == template.contains("({service})"))
      #expect(written.contains("left thumb") == (template.contains("{finger}") || text == .leftThumb))
    }
  }

  @Test func `on a terminal a question says that the password will do, and ends where the cursor waits`() {
    for prompt in [
      Prompt.queued, .touch(swipe: false, finger: nil), .touch(swipe: true, finger: nil),
      .touch(swipe: false, finger: .leftThumb), .touch(swipe: true, finger: .leftThumb), .type,
    ] {
      let written = withTextLine { line in
        "sudo".withCString { prompt.write(to: &line, service: $0, takesPassword: true) }
        return line.withText { String(cString: $0) } ?? ""
      }
      #expect(prompt.isQuestion)
      #expect(written.hasSuffix("ype your password (sudo): "), "\(written)")
    }
  }
}
