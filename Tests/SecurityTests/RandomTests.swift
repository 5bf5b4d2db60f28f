import Security
import Testing

@Suite struct RandomTests {
  /// More and less than the kernel gives at once.
  @Test(arguments: [16, 255, 256, 257, 1000])
  func `every byte that was asked for is random, and no other is touched`(count: Int) {
    var seen = [Set<UInt8>](repeating: [], count: count)
    for _ in 0..<8 {
      var bytes = [UInt8](repeating: 0xAA, count: count + 8)
      #expect(SecRandomCopyBytes(kSecRandomDefault, count, &bytes) == errSecSuccess)
      #expect(bytes[count...].allSatisfy { $0 == 0xAA })
      for index in 0..<count { seen[index].insert(bytes[index]) }
    }
    // One byte of eight draws is the same each time in one of 2^56 runs.
    #expect(seen.allSatisfy { $0.count > 1 })
  }

  @Test func `no bytes are no error, and fewer are`() {
    var byte: UInt8 = 7
    #expect(SecRandomCopyBytes(kSecRandomDefault, 0, &byte) == errSecSuccess)
    #expect(SecRandomCopyBytes(nil, -1, &byte) == errSecParam)
    #expect(byte == 7)
  }

  @Test func `passwords for websites are made, and nothing is shared with websites`() throws {
    let passwords = Set((0..<50).compactMap { _ in SecCreateSharedWebCredentialPassword() })
    #expect(passwords.count == 50)
    for password in passwords {
      let groups = password.split(separator: "-", omittingEmptySubsequences: false)
      #expect(groups.count == 4 && groups.allSatisfy { $0.count == 3 }, "\(password)")
    }
    var errors: [NSError?] = []
    SecAddSharedWebCredential("example.org" as CFString, "ada" as CFString, "secret" as CFString?) { errors.append($0) }
    SecRequestSharedWebCredential("example.org" as CFString, nil) { credentials, error in
      #expect(credentials == nil)
      errors.append(error)
    }
    #expect(errors.map { $0?.code } == [-4, -4])
    #expect(errors.allSatisfy { $0?.domain == NSOSStatusErrorDomain })
  }
}
