import Glibc
import KeyPairs
import SecretMemory
import Testing

/// What of a private key stays in the process's memory.
@Suite(.serialized) struct LeftoverTests {
  /// How often the 32 bytes whose complement is `mask` are in this process's writable memory, as they are or in the
  /// opposite order (so libcrypto keeps numbers). The complement, so that the search does not find itself.
  private func copies(ofComplement mask: [UInt8]) throws -> Int {
    let memory = open("/proc/self/mem", O_RDONLY)
    defer { close(memory) }
    let maps = wholeMaps()
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { chunk.deallocate() }
    // What was read lies in memory too.
    let own = UInt(bitPattern: chunk.baseAddress)..<UInt(bitPattern: chunk.baseAddress) + UInt(chunk.count)
    var found = 0
    for line in maps.split(separator: "\n") where line.contains(" rw") {
      let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard range.count == 2 else { continue }
      var start = range[0]
      while start < range[1] {
        let count = min(UInt(chunk.count), range[1] - start)
        let got = pread(memory, chunk.baseAddress, Int(count), off_t(clamping: start))
        guard got > 0 else { break }
        for pattern in [mask, mask.reversed()] {
          found += places(of: pattern, in: UnsafeRawBufferPointer(rebasing: chunk[..<got]))
            .count { !own.contains(start + UInt($0)) }
        }
        guard UInt(got) == UInt(chunk.count) else { break }
        start += UInt(got) - 31  // what lies across the end of a piece is whole in the next
      }
    }
    return found
  }

  /// /proc/self/maps, which comes in pieces.
  private func wholeMaps() -> String {
    let file = open("/proc/self/maps", O_RDONLY)
    defer { close(file) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let got = read(file, &piece, piece.count)
      guard got > 0 else { return String(decoding: text, as: UTF8.self) }
      text += piece[..<got]
    }
  }

  /// Where the complement of `mask` is in `bytes`.
  private func places(of mask: [UInt8], in bytes: UnsafeRawBufferPointer) -> [Int] {
    // Looked for by one byte that memory is not full of.
    let (index, value) = mask.enumerated().first { (0x11..<0x7f).contains($0.element) } ?? (0, mask[0])
    var found: [Int] = []
    var offset = index
    while offset < bytes.count, let base = bytes.baseAddress,
      let next = memchr(base + offset, Int32(~value), bytes.count - offset)
    {
      let place = UnsafeRawPointer(next) - base
      let start = place - index
      if start + mask.count <= bytes.count, (0..<mask.count).allSatisfy({ bytes[start + $0] == ~mask[$0] }) {
        found.append(start)
      }
      offset = place + 1
    }
    return found
  }

  @Test(arguments: KeyPairType.allCases)
  func `nothing of a private key stays behind once it has ended`(type: KeyPairType) throws {
    let mask = try use(type)
    #expect(try copies(ofComplement: mask) == 0)
  }

  @Test func `the search finds what is there`() throws {
    let bytes = try SecretBytes.random(count: 32)
    let mask = bytes.withUnsafeBytes { $0.map { ~$0 } }
    let found = try copies(ofComplement: mask)
    #expect(found == 1)
    let again = bytes.withUnsafeBytes { $0.map { ~$0 } }
    #expect(again == mask)
  }

  /// Makes a key, signs and agrees with it; gives the complement of its bytes.
  @inline(never)
  private func use(_ type: KeyPairType) throws -> [UInt8] {
    let key = try PrivateKey.generate(type)
    for algorithm in SignatureAlgorithm.allCases where algorithm.keyType == type {
      let data = [UInt8](repeating: 1, count: algorithm.dataBytes ?? 100)
      #expect(try key.publicKey.verify(try key.sign(data, by: algorithm), of: data, by: algorithm))
    }
    if type == .p256 { _ = try key.sharedSecret(with: try PrivateKey.generate(.p256).publicKey) }
    return key.takeBytes().withUnsafeBytes { $0.map { ~$0 } }
  }
}
