extension UserKeychain {
  /// The readers whose matches may release secrets, in the order in which they were trusted.
  /// - Throws: `.tampered` where the list is not as it was left.
  public func trustedReaders() throws(KeychainError) -> [TrustedReader] {
    try database.read { () throws(KeychainError) in
      try TrustedReaderStore.read(from: database, user: user, keys: keys).readers
    }
  }

  /// Whether a match on the reader at this place may release secrets.
  /// - Throws: as `trustedReaders`.
  public func isTrusted(_ place: ReaderPlace) throws(KeychainError) -> Bool {
    try trustedReaders().contains { $0.place == place }
  }

  /// Trusts the readers at these places from now on; those that are trusted already stay as they are.
  /// - Parameter readers: each with its product name.
  /// - Throws: `.invalidParameter` for a place without a path, texts that are too long or too many readers; `.tampered`
  ///   (then `distrustAll` is the way on); what a write can meet.
  public func trust(_ readers: [(place: ReaderPlace, name: String)]) throws(KeychainError) {
    for (place, name) in readers {
      let texts = [place.driver, place.deviceID, place.path, place.hardware, name]
      guard !place.path.isEmpty, texts.allSatisfy({ $0.utf8.count <= KeychainLimits.readerBytes }) else {
        throw .invalidParameter("a reader's place must be known and have \(KeychainLimits.readerBytes) bytes at most")
      }
    }
    try database.write { () throws(KeychainError) in
      var contents = try TrustedReaderStore.read(from: database, user: user, keys: keys)
      let before = contents.readers.count
      for (place, name) in readers where !contents.readers.contains(where: { $0.place == place }) {
        contents.readers.append(
          TrustedReader(id: Sealing.randomBytes(16), place: place, name: name, trustedAt: now()))
      }
      guard contents.readers.count > before else { return }
      try TrustedReaderStore.replace(
        with: contents.readers, after: contents.generation, in: database, user: user, keys: keys)
    }
  }

  /// Trusts the reader at this place no more; false (and nothing changes) where it was not trusted.
  /// - Throws: `.tampered`; what a write can meet.
  public func distrust(_ place: ReaderPlace) throws(KeychainError) -> Bool {
    let isChanged = try database.write { () throws(KeychainError) in
      let contents = try TrustedReaderStore.read(from: database, user: user, keys: keys)
      let left = contents.readers.filter { $0.place != place }
      guard left.count < contents.readers.count else { return false }
      try TrustedReaderStore.replace(
        with: left, after: contents.generation, in: database, user: user, keys: keys)
      return true
    }
    // What is deleted shall not be read from the write-ahead log either.
    if isChanged { database.checkpoint() }
    return isChanged
  }

  /// Trusts no reader any more, also where the list was tampered with.
  /// - Throws: what a write can meet.
  public func distrustAll() throws(KeychainError) {
    try database.write { () throws(KeychainError) in
      // A random one where the record is lost: an old list must not count as the present one.
      let contents = try? TrustedReaderStore.read(from: database, user: user, keys: keys)
      let generation = contents?.generation ?? UInt64.random(in: 1 << 32...1 << 62)
      try TrustedReaderStore.replace(with: [], after: generation, in: database, user: user, keys: keys)
    }
    database.checkpoint()
  }
}
