/// Where random bytes come from. There is one source, ``kSecRandomDefault``.
public final class SecRandom: Sendable {
  private init() {}
}

/// A source of random bytes.
public typealias SecRandomRef = SecRandom

/// The kernel's random number generator.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes from the kernel.
/// - Parameters:
///   - source: ``kSecRandomDefault``.
///   - count: how many bytes; 0 is allowed.
///   - bytes: memory for that many.
/// - Returns: `errSecSuccess`; `errSecParam` for a negative count; `errSecNotAvailable` where the kernel gives none: then
///   nothing in the memory counts.
public func SecRandomCopyBytes(_ source: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> OSStatus {
  guard count >= 0 else { return errSecParam }
  var done = 0
  while done < count {
    // getentropy(3): 256 bytes are the most at once; it waits for the generator's seed and is not interrupted.
    let part = min(count - done, 256)
    guard getentropy(bytes + done, part) == 0 else { return errSecNotAvailable }
    done += part
  }
  return errSecSuccess
}
