import Testing

@testable import PAMStacks

/// The line of ours that follows a login lets nobody in whom whorld has not seen, and asks for no finger.
@Suite struct AfterLoginTests {
  private static let stack = """
    auth [success=2 default=ignore] pam_whorl.so
    auth [success=1 default=ignore] pam_unix.so try_first_pass
    auth requisite pam_deny.so
    auth required pam_permit.so
    auth optional pam_whorl.so login keyring
    auth optional pam_gnome_keyring.so

    """

  @Test func `The stack of the manual opens for a match or the right password alone`() throws {
    let verdict = try Machine(["gdm": Self.stack]).verdict("gdm")
    #expect(verdict.faults.isEmpty, "\(verdict.faults)")
    #expect(verdict.match == .granted)
    #expect(verdict.rightPassword == .granted)
    #expect(verdict.noMatch == .denied)
    #expect(verdict.wrongPassword == .denied)
  }

  @Test func `Alone it asks for nothing, and lets in nobody who has shown nothing`() throws {
    let verdict = try Machine(["gdm": "auth sufficient pam_whorl.so login\nauth required pam_deny.so\n"]).verdict("gdm")
    #expect(!verdict.hasFinger)
    #expect(verdict.wrongPassword == .denied)
    #expect(verdict.noMatch == .denied)
  }

  @Test func `Required, it may keep the right password out, which is said`() throws {
    let required = Self.stack.replacing("optional pam_whorl.so login", with: "required pam_whorl.so login")
    let verdict = try Machine(["gdm": required]).verdict("gdm")
    #expect(verdict.faults.contains(.passwordIsClosed))
  }
}
