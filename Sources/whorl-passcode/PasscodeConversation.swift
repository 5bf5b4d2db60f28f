import CPAM
import Glibc
import SecretMemory

/// The passcode as libpam's modules ask for it: the answer to every hidden prompt, and to nothing else.
struct PasscodeConversation: ~Copyable {
  /// Ends in a NUL.
  private let text: SecretBytes

  /// - Throws: where no guarded memory can be had.
  init(_ passcode: borrowing SecretBytes) throws(SecretMemoryError) {
    var text = try SecretBytes(count: passcode.count + 1)
    text.withUnsafeMutableBytes { target in passcode.withUnsafeBytes { target.copyMemory(from: $0) } }
    self.text = text
  }

  /// Lends a libpam conversation that is good while `body` runs.
  func withConversation<R>(_ body: (UnsafePointer<pam_conv>) -> R) -> R {
    text.withUnsafeBytes { bytes in
      // converse(…) only reads through it.
      var conversation = pam_conv(conv: converse, appdata_ptr: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return body(&conversation)
    }
  }
}

/// libpam's conversation function. The copies that it hands over are the modules' to wipe and free.
private func converse(
  _ count: Int32, _ messages: UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
  _ responses: UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?, _ data: UnsafeMutableRawPointer?
) -> Int32 {
  guard count > 0, count <= PAM_MAX_NUM_MSG, let messages, let responses, let data else { return PAM_CONV_ERR }
  guard let raw = calloc(Int(count), MemoryLayout<pam_response>.stride) else { return PAM_BUF_ERR }
  let answers = raw.bindMemory(to: pam_response.self, capacity: Int(count))
  for index in 0..<Int(count) {
    let style = messages[index]?.pointee.msg_style
    if style == PAM_TEXT_INFO || style == PAM_ERROR_MSG { continue }
    guard style == PAM_PROMPT_ECHO_OFF, let copy = strdup(data.assumingMemoryBound(to: CChar.self)) else {
      drop(answers, count: index)
      return PAM_CONV_ERR
    }
    answers[index].resp = copy
  }
  responses.pointee = answers
  return PAM_SUCCESS
}

/// Wipes and frees answers that are not handed over after all.
private func drop(_ answers: UnsafeMutablePointer<pam_response>, count: Int) {
  for index in 0..<count {
    guard let text = answers[index].resp else { continue }
    explicit_bzero(text, strlen(text))
    free(text)
  }
  free(answers)
}
