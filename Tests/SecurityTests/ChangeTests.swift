import Security
import Testing
import WhorlClient

@Suite struct ChangeTests {
  @Test func `what is given changes, and nothing else`() throws {
    let change = try change([
      kSecAttrAccount: "", kSecAttrLabel: "new", kSecValueData: Data(), kSecAttrSynchronizable: false,
      kSecAttrAccessible: kSecAttrAccessibleAlways,
    ])
    var wanted = WhorlAttributes(account: "", label: "new")
    wanted.isSynchronizable = false
    #expect(change.attributes == wanted && change.secret == Data())
    #expect(change.accessControl == WhorlAccessControl(protection: .always))
    let label = try password([kSecAttrLabel: "new"])
    #expect(label.secret == nil && label.accessControl == nil)
  }

  private func password(_ pairs: Pairs) throws(ItemRequestError) -> ItemChange {
    try change(pairs, of: .genericPassword)
  }

  @Test(
    arguments: [
      [:], [kSecClass: kSecClassGenericPassword], [kSecValuePersistentRef: Data([1])], [kSecReturnData: true],
      [kSecAttrSynchronizable: kSecAttrSynchronizableAny], [kSecMatchLimit: kSecMatchLimitAll],
      [kSecAttrCreationDate: Date()], [kSecUseOperationPrompt: "why"], [kSecAttrServer: "h"],
      [kSecAttrAccessible: kSecAttrAccessibleAlways, kSecAttrAccessControl: sampleControl()],
    ] as [Pairs])
  func `what cannot be changed is refused`(pairs: Pairs) {
    let error = refusal { () throws(ItemRequestError) in try password(pairs) }
    #expect(error?.status == errSecParam && error?.message.hasPrefix("SecItemUpdate: ") == true)
  }

  @Test func `a key keeps what it is`() throws {
    #expect(try change([kSecAttrApplicationTag: Data([2])], of: .key).attributes.applicationTag == [2])
    for pairs in [
      [kSecAttrKeyClass: kSecAttrKeyClassPublic], [kSecAttrKeySizeInBits: 384], [kSecValueData: Data([1])],
      [kSecAttrKeyType: kSecAttrKeyTypeEC],
    ] as [Pairs] {
      #expect(refusal { () throws(ItemRequestError) in try change(pairs, of: .key) }?.status == errSecParam)
    }
  }

  @Test func `with a reference alone the attributes of every class can be changed`() throws {
    #expect(try change([kSecAttrLabel: "l"], of: nil).attributes.label == "l")
    #expect(
      refusal { () throws(ItemRequestError) in try change([kSecAttrService: "s"], of: nil) }?.status == errSecParam)
  }
}
