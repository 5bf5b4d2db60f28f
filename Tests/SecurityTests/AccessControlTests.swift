import Testing
import WhorlClient

@testable import Security

@Suite struct AccessControlTests {
  private func make(
    _ flags: SecAccessControlCreateFlags, _ protection: Any = kSecAttrAccessibleWhenUnlocked
  ) -> (control: WhorlAccessControl?, error: NSError?) {
    var error: Unmanaged<CFError>?
    let made = SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, flags, &error)
    #expect((made == nil) == (error != nil))
    return (made?.control, error?.takeRetainedValue())
  }

  @Test(
    arguments: [
      ([], []), (.userPresence, [.userPresence]), (.biometryAny, [.biometryAny]), (.touchIDAny, [.biometryAny]),
      (.biometryCurrentSet, [.biometryCurrentSet]), (.touchIDCurrentSet, [.biometryCurrentSet]),
      (.devicePasscode, [.devicePasscode]), (.applicationPassword, [.applicationPassword]),
      (.privateKeyUsage, [.privateKeyUsage]), ([.privateKeyUsage, .biometryAny], [.biometryAny, .privateKeyUsage]),
      ([.userPresence, .applicationPassword], [.userPresence, .applicationPassword]),
      ([.userPresence, .and, .applicationPassword], [.userPresence, .applicationPassword]),
      ([.biometryAny, .or, .devicePasscode], [.biometryAny, .devicePasscode, .or]),
      ([.biometryCurrentSet, .and, .devicePasscode], [.biometryCurrentSet, .devicePasscode, .and]),
      (
        [.devicePasscode, .and, .biometryAny, .applicationPassword, .privateKeyUsage],
        [.biometryAny, .devicePasscode, .applicationPassword, .privateKeyUsage, .and]
      ),
    ] as [(SecAccessControlCreateFlags, [WhorlConstraint])])
  func `flags become the enclave's constraints`(flags: SecAccessControlCreateFlags, constraints: [WhorlConstraint]) {
    let (control, error) = make(flags)
    #expect(control == WhorlAccessControl(protection: .whenUnlocked, constraints: constraints))
    #expect(error == nil)
  }

  @Test(
    arguments: [
      ([.biometryAny, .devicePasscode], errSecParam, "biometryAny and devicePasscode"),
      ([.userPresence, .biometryCurrentSet], errSecParam, "userPresence and biometryCurrentSet"),
      ([.biometryAny, .and, .or, .devicePasscode], errSecParam, "not by both"),
      ([.biometryAny, .or], errSecParam, "\"or\""), ([.biometryAny, .and], errSecParam, "\"and\""),
      ([.applicationPassword, .or, .biometryAny], errSecParam, "\"or\""), (.and, errSecParam, "\"and\""),
      (.watch, errSecUnimplemented, "watch"), ([.biometryAny, .or, .companion], errSecUnimplemented, "companion"),
      (SecAccessControlCreateFlags(rawValue: 1 << 2 | 1), errSecParam, "0x4"),
      (SecAccessControlCreateFlags(rawValue: 1 << 63), errSecParam, "0x8000000000000000"),
    ] as [(SecAccessControlCreateFlags, OSStatus, String)])
  func `what cannot be is refused by name`(flags: SecAccessControlCreateFlags, status: OSStatus, part: String) throws {
    let (control, made) = make(flags)
    let error = try #require(made)
    #expect(control == nil)
    #expect(CFErrorGetCode(error) == Int(status))
    #expect(CFErrorGetDomain(error) == NSOSStatusErrorDomain)
    #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
    #expect(CFErrorCopyUserInfo(error)[NSLocalizedDescriptionKey] as? String == error.localizedDescription)
  }

  @Test(arguments: [
    (kSecAttrAccessibleWhenUnlocked, "when-unlocked"), (kSecAttrAccessibleAfterFirstUnlock, "after-first-unlock"),
    (kSecAttrAccessibleAlways, "always"),
    (kSecAttrAccessibleWhenUnlockedThisDeviceOnly, "when-unlocked-this-device-only"),
    (kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, "after-first-unlock-this-device-only"),
    (kSecAttrAccessibleAlwaysThisDeviceOnly, "always-this-device-only"),
    (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, "when-passcode-set-this-device-only"),
  ])
  func `every protection is the enclave's, there and back`(constant: String, name: String) {
    #expect(make(.userPresence, constant).control?.protection.rawValue == name)
    // As wrappers hand it over.
    #expect(make(.userPresence, constant as NSString).control?.protection.rawValue == name)
    #expect(make(.userPresence, constant as CFTypeRef).control?.protection.rawValue == name)
    #expect(WhorlProtection(rawValue: name).accessible == constant)
  }

  @Test(arguments: ["", "genp", "AK", 5, NSNull(), ["ak"]] as [any Sendable])
  func `another protection is refused`(protection: any Sendable) {
    #expect(make([], protection).error?.code == -50)
  }

  @Test func `without a place for the error a refusal is nil`() {
    #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, .watch, nil) == nil)
  }

  @Test func `two of the same content are equal, and can be kept in sets and dictionaries`() throws {
    let one = try #require(
      SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [.devicePasscode, .or, .biometryAny], nil))
    let same = try #require(
      SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [.biometryAny, .or, .devicePasscode], nil))
    let other = try #require(
      SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [.biometryAny, .and, .devicePasscode], nil))
    #expect(one == same && one != other && Set([one, same, other]).count == 2)
    #expect(one.description == "always: biometry-any device-passcode or")
    let dictionary = [kSecAttrAccessControl as String: one] as CFDictionary
    #expect(dictionary[kSecAttrAccessControl] as? SecAccessControl == one)
  }
}
