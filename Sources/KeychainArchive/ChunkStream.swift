internal import CSodium
internal import SecretMemory

/// libsodium's secretstream: each chunk is bound to all before it, so that none can be changed, left out, moved or
/// brought in from elsewhere, and the last says that it is. Its state, which holds the key, is in guarded memory.
struct ChunkStream: ~Copyable {
  private typealias State = crypto_secretstream_xchacha20poly1305_state

  /// So many bytes more a chunk has when it is sealed.
  static let overhead = Int(crypto_secretstream_xchacha20poly1305_abytes())
  private static let finalTag = UInt8(crypto_secretstream_xchacha20poly1305_tag_final())
  private static let usualTag = UInt8(crypto_secretstream_xchacha20poly1305_tag_message())

  private var state: SecretBytes

  private init() throws(ArchiveError) {
    state = try guarded { () throws(SecretMemoryError) in try SecretBytes(count: MemoryLayout<State>.size) }
  }

  /// A stream for writing, which gives `header` its nonce.
  static func sealing(
    _ key: borrowing ArchiveKey, _ header: inout ArchiveHeader
  ) throws(ArchiveError) -> ChunkStream {
    var stream = try ChunkStream()
    var nonce = [UInt8](repeating: 0, count: ArchiveHeader.nonceBytes)
    stream.state.withUnsafeMutableBytes { raw in
      key.withChunkKey { key in
        guard let state = Self.state(raw), let key else { return }
        _ = crypto_secretstream_xchacha20poly1305_init_push(state, &nonce, key)
      }
    }
    header.nonce = nonce
    return stream
  }

  /// A stream for reading what was written with that key.
  static func opening(_ key: borrowing ArchiveKey) throws(ArchiveError) -> ChunkStream {
    var stream = try ChunkStream()
    let nonce = key.header.nonce
    let isValid = stream.state.withUnsafeMutableBytes { raw in
      key.withChunkKey { key in
        guard let state = Self.state(raw), let key else { return false }
        return crypto_secretstream_xchacha20poly1305_init_pull(state, nonce, key) == 0
      }
    }
    guard isValid else { throw .altered }
    return stream
  }

  /// Seals `plain` into `target`, which must have room for `overhead` more.
  mutating func seal(_ plain: UnsafeRawBufferPointer, isLast: Bool, into target: UnsafeMutableRawBufferPointer) {
    state.withUnsafeMutableBytes { raw in
      guard let state = Self.state(raw), let result = target.bindMemory(to: UInt8.self).baseAddress,
        target.count >= plain.count + Self.overhead
      else { return }
      _ = crypto_secretstream_xchacha20poly1305_push(
        state, result, nil, plain.bindMemory(to: UInt8.self).baseAddress, UInt64(plain.count), nil, 0,
        isLast ? Self.finalTag : Self.usualTag)
    }
  }

  /// Opens `sealed` into `target`, which must have room for `overhead` less; whether it was the last chunk.
  /// - Throws: `.altered`.
  mutating func open(
    _ sealed: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) throws(ArchiveError) -> Bool {
    var tag: UInt8 = 0
    let isGenuine = state.withUnsafeMutableBytes { raw in
      guard let state = Self.state(raw), let source = sealed.bindMemory(to: UInt8.self).baseAddress,
        sealed.count >= Self.overhead, target.count >= sealed.count - Self.overhead
      else { return false }
      return crypto_secretstream_xchacha20poly1305_pull(
        state, target.bindMemory(to: UInt8.self).baseAddress, nil, &tag, source, UInt64(sealed.count), nil, 0) == 0
    }
    guard isGenuine, tag == Self.finalTag || tag == Self.usualTag else { throw .altered }
    return tag == Self.finalTag
  }

  private static func state(_ raw: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<State>? {
    raw.bindMemory(to: State.self).baseAddress
  }
}
