import Security
import Testing

/// The names of Foundation and Core Foundation, used as code for Apple's systems uses them.
@Suite struct FoundationTests {
  @Test func `casts that wrappers make`() {
    let literal =
      [kSecClass as String: kSecClassGenericPassword, kSecReturnData as String: kCFBooleanTrue!] as CFDictionary
    #expect(literal[kSecClass as String] as? String == "genp")
    let typed: [CFString: Any] = [kSecClass: kSecClassKey, kSecReturnData: true]
    #expect((typed as CFDictionary)[kSecClass] as? String == "keys")
    var growing: [String: AnyObject] = [kSecAttrAccount as String: "ada" as AnyObject]
    growing[String(kSecReturnData)] = kCFBooleanTrue
    #expect((growing as CFDictionary).value(forKey: kSecAttrAccount) as? String == "ada")

    var result: AnyObject?
    var reference: CFTypeRef?
    func copy(_ place: UnsafeMutablePointer<CFTypeRef?>?) { place?.pointee = Data([1, 0, 2]) as CFData }
    copy(&result)
    copy(&reference)
    #expect(result as? Data == Data([1, 0, 2]))
    #expect(reference as? NSData == NSData(data: Data([1, 0, 2])))

    let status: OSStatus = -25300
    switch status {
    case errSecSuccess, errSecDuplicateItem: Issue.record("not that one")
    case errSecItemNotFound: break
    default: Issue.record("no other")
    }
    switch kSecAttrProtocolHTTPS {
    case kSecAttrProtocolHTTPS: break
    default: Issue.record("the constant is not itself")
    }
    #expect(kCFBooleanTrue as? Bool == true && kCFBooleanFalse as? Bool == false && kCFAllocatorDefault == nil)
  }

  @Test func `an error as Core Foundation has it`() {
    let held: Unmanaged<CFError>? = Unmanaged.passRetained(
      NSError(domain: "d", code: 5, userInfo: [NSLocalizedDescriptionKey: "why", "k": 1]))
    let error = held?.takeRetainedValue()
    #expect(CFErrorGetDomain(error) as String == "d")
    #expect(CFErrorGetCode(error) == 5)
    let userInfo = CFErrorCopyUserInfo(error) as! [String: Any]
    #expect(userInfo[NSLocalizedDescriptionKey] as? String == "why" && userInfo["k"] as? Int == 1)
    #expect(CFErrorCopyDescription(error) == "why")
    #expect(CFErrorGetDomain(nil) == nil && CFErrorCopyUserInfo(nil) == nil && CFErrorGetCode(nil) == 0)
    #expect(NSError().code == 0 && NSError().domain == "")
  }

  @Test func `a place for an error`() {
    func fill(_ error: NSErrorPointer) { error?.pointee = NSError(domain: "d", code: 1) }
    var error: NSError?
    fill(&error)
    fill(nil)
    #expect(error?.code == 1)
  }

  @Test func `a table lets go of what it holds weakly`() {
    final class Thing {}
    let table = NSMapTable<NSString, Thing>.strongToWeakObjects()
    var thing: Thing? = Thing()
    table.setObject(thing, forKey: "a")
    #expect(table.object(forKey: "a") === thing && table.count == 1)
    #expect(table.object(forKey: "b") == nil && table.object(forKey: nil) == nil)
    thing = nil
    #expect(table.object(forKey: "a") == nil && table.count == 0)

    let keys = NSMapTable<Thing, NSString>.weakToStrongObjects()
    var key: Thing? = Thing()
    let other = Thing()
    keys.setObject("x", forKey: key)
    keys.setObject("y", forKey: key)
    #expect(keys.object(forKey: key) == "y" && keys.object(forKey: other) == nil && keys.count == 1)
    key = nil
    #expect(keys.count == 0)

    let both = NSMapTable<NSString, NSString>.strongToStrongObjects()
    both.setObject("1", forKey: "a")
    both.setObject("2", forKey: NSString(string: "a"))
    #expect(both.object(forKey: "a") == "2" && both.count == 1)
    both.removeObject(forKey: "a")
    both.setObject("3", forKey: "c")
    both.removeAllObjects()
    #expect(both.count == 0)
  }
}
