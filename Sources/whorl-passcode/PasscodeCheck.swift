import CPAM
import Glibc
import SecretMemory

/// One question to PAM: is this the passcode of that user, and may the account be used?
struct PasscodeCheck {
  /// The PAM service; its file says pam_unix alone, so that a finger never stands in for the passcode.
  static let service = "whorl-passcode"
  /// Where libpam looks for service files.
  static let systemFolders = ["/etc/pam.d", "/usr/lib/pam.d"]

  let user: String
  /// The folder of service files in private mode; nil for the system's.
  let folder: String?

  /// Asks; PAM may take its time after a wrong passcode.
  func verdict(on passcode: borrowing SecretBytes) -> (verdict: Verdict, problem: String?) {
    // The stack of "other", to which libpam falls back, may accept a finger.
    let folders = folder.map { [$0] } ?? PasscodeCheck.systemFolders
    guard folders.contains(where: { access("\($0)/\(PasscodeCheck.service)", R_OK) == 0 }) else {
      return (.unavailable, "there is no PAM service \(PasscodeCheck.service) in \(folders[0]); install Whorl again")
    }
    if folder == nil, hasNoPassword { return (.notSet, nil) }
    // An empty passcode could be right where pam_unix allows it, and one with a NUL would be cut.
    let isText = passcode.withUnsafeBytes { !$0.isEmpty && !$0.contains(0) }
    guard isText else { return (.wrong, nil) }
    do {
      let conversation = try PasscodeConversation(passcode)
      return conversation.withConversation(ask)
    } catch {
      return (.unavailable, "\(error)")
    }
  }

  private func ask(_ conversation: UnsafePointer<pam_conv>) -> (verdict: Verdict, problem: String?) {
    var handle: OpaquePointer?
    let started =
      folder.map { pam_start_confdir(PasscodeCheck.service, user, conversation, $0, &handle) }
      ?? pam_start(PasscodeCheck.service, user, conversation, &handle)
    guard started == PAM_SUCCESS, let handle else {
      return (.unavailable, "PAM could not be started (code \(started)); look at the system log")
    }
    let flags = Int32(bitPattern: UInt32(PAM_SILENT) | UInt32(PAM_DISALLOW_NULL_AUTHTOK))
    var code = pam_authenticate(handle, flags)
    var verdict = Verdict(authentication: code)
    if verdict == .right {
      code = pam_acct_mgmt(handle, flags)
      verdict = Verdict(account: code)
    }
    let problem =
      verdict == .unavailable
      ? pam_strerror(handle, code).map { "PAM service \(PasscodeCheck.service): \(String(cString: $0))" } : nil
    pam_end(handle, code)
    return (verdict, problem)
  }

  /// Whether the shadow file says that no password opens the account; false where it says nothing about the user.
  private var hasNoPassword: Bool {
    guard let entry = getspnam(user) else { return false }
    defer { endspent() }
    guard let hash = entry.pointee.sp_pwdp else { return false }
    return hash[0] == 0 || hash[0] == CChar(UInt8(ascii: "!")) || hash[0] == CChar(UInt8(ascii: "*"))
  }
}
