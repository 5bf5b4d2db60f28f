// Passwords that a program shares with its website through Apple's associated domains. Linux has no such thing.

/// Would save a password for a website. There is nothing to share it with: the handler gets `errSecUnimplemented`.
public func SecAddSharedWebCredential(
  _ domain: CFString, _ account: CFString, _ password: CFString?,
  _ completionHandler: @escaping (_ error: CFError?) -> Void
) {
  completionHandler(.status(errSecUnimplemented, "Passwords are not shared with websites on Linux."))
}

/// Would ask the user for a website's password. There is nothing to share it with: the handler gets
/// `errSecUnimplemented` and no passwords.
public func SecRequestSharedWebCredential(
  _ domain: CFString?, _ account: CFString?,
  _ completionHandler: @escaping (_ credentials: CFArray?, _ error: CFError?) -> Void
) {
  completionHandler(nil, .status(errSecUnimplemented, "Passwords are not shared with websites on Linux."))
}

/// A random password of four groups of three letters and digits, such as `aX3-k9Q-Zr2-hT7`: 71 bits.
/// - Returns: nil where the kernel gives no random bytes.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
  // Without those that are easily taken for another.
  let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")
  var groups: [String] = []
  for _ in 0..<4 {
    var group = ""
    while group.count < 3 {
      var byte: UInt8 = 0
      guard SecRandomCopyBytes(kSecRandomDefault, 1, &byte) == errSecSuccess else { return nil }
      // Bytes from the last, partial round of letters would make the first letters likelier.
      guard Int(byte) < 256 / letters.count * letters.count else { continue }
      group.append(letters[Int(byte) % letters.count])
    }
    groups.append(group)
  }
  return groups.joined(separator: "-")
}
