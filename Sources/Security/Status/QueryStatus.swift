// Status codes of coding, algorithms, dictionaries and queries. The numbers are Apple's, the words are our own.

/// The certificate cannot be read.
public let errSecInvalidCertificate: OSStatus = -26265
/// The certificate is not the signer's.
public let errSecNotSigner: OSStatus = -26267
/// The algorithm is not supported.
public let errSecUnsupportedAlgorithm: OSStatus = -26268
/// The policy forbids it.
public let errSecPolicyDenied: OSStatus = -26270
/// The operation is not supported.
public let errSecUnsupportedOperation: OSStatus = -26271
/// The padding is not supported.
public let errSecUnsupportedPadding: OSStatus = -26273
/// The key is wrong for this.
public let errSecInvalidKey: OSStatus = -26274
/// The stored data cannot be read.
public let errSecDecode: OSStatus = -26275
/// Something failed inside.
public let errSecInternal: OSStatus = -26276
/// A dictionary has a key that is not known.
public let errSecItemInvalidKey: OSStatus = -34000
/// A dictionary has a key of the wrong type.
public let errSecItemInvalidKeyType: OSStatus = -34001
/// A dictionary has a wrong value.
public let errSecItemInvalidValue: OSStatus = -34002
/// The query does not say which class.
public let errSecItemClassMissing: OSStatus = -34003
/// The query has a match key that is not supported.
public let errSecItemMatchUnsupported: OSStatus = -34004
/// Lists of items are not supported here.
public let errSecUseItemListUnsupported: OSStatus = -34005
/// Choosing a keychain is not supported.
public let errSecUseKeychainUnsupported: OSStatus = -34006
/// Choosing keychains is not supported.
public let errSecUseKeychainListUnsupported: OSStatus = -34007
/// Data cannot be returned here.
public let errSecReturnDataUnsupported: OSStatus = -34008
/// Attributes cannot be returned here.
public let errSecReturnAttributesUnsupported: OSStatus = -34009
/// References cannot be returned here.
public let errSecReturnRefUnsupported: OSStatus = -34010
/// Persistent references cannot be returned here.
public let errSecReturnPersitentRefUnsupported: OSStatus = -34011
/// A reference cannot be given here.
public let errSecValueRefUnsupported: OSStatus = -34012
/// A persistent reference cannot be given here.
public let errSecValuePersistentRefUnsupported: OSStatus = -34013
/// There is no place to put the result.
public let errSecReturnMissingPointer: OSStatus = -34014
/// A limit cannot be given here.
public let errSecMatchLimitUnsupported: OSStatus = -34015
/// The query contradicts itself.
public let errSecItemIllegalQuery: OSStatus = -34016
/// The answer comes through the callback.
public let errSecWaitForCallback: OSStatus = -34017
/// The program is not entitled to that.
public let errSecMissingEntitlement: OSStatus = -34018
/// The keychain has to be brought up to date first.
public let errSecUpgradePending: OSStatus = -34019

extension StatusText {
  /// What the codes of this file mean.
  static let queryStatus: [OSStatus: String] = [
    errSecInvalidCertificate: "The certificate cannot be read.",
    errSecNotSigner: "The certificate is not the signer's.",
    errSecUnsupportedAlgorithm: "The algorithm is not supported.",
    errSecPolicyDenied: "The policy forbids it.",
    errSecUnsupportedOperation: "The operation is not supported.",
    errSecUnsupportedPadding: "The padding is not supported.",
    errSecInvalidKey: "The key is wrong for this.",
    errSecDecode: "The stored data cannot be read.",
    errSecInternal: "Something failed inside.",
    errSecItemInvalidKey: "A dictionary has a key that is not known.",
    errSecItemInvalidKeyType: "A dictionary has a key of the wrong type.",
    errSecItemInvalidValue: "A dictionary has a wrong value.",
    errSecItemClassMissing: "The query does not say which class.",
    errSecItemMatchUnsupported: "The query has a match key that is not supported.",
    errSecUseItemListUnsupported: "Lists of items are not supported here.",
    errSecUseKeychainUnsupported: "Choosing a keychain is not supported.",
    errSecUseKeychainListUnsupported: "Choosing keychains is not supported.",
    errSecReturnDataUnsupported: "Data cannot be returned here.",
    errSecReturnAttributesUnsupported: "Attributes cannot be returned here.",
    errSecReturnRefUnsupported: "References cannot be returned here.",
    errSecReturnPersitentRefUnsupported: "Persistent references cannot be returned here.",
    errSecValueRefUnsupported: "A reference cannot be given here.",
    errSecValuePersistentRefUnsupported: "A persistent reference cannot be given here.",
    errSecReturnMissingPointer: "There is no place to put the result.",
    errSecMatchLimitUnsupported: "A limit cannot be given here.",
    errSecItemIllegalQuery: "The query contradicts itself.",
    errSecWaitForCallback: "The answer comes through the callback.",
    errSecMissingEntitlement: "The program is not entitled to that.",
    errSecUpgradePending: "The keychain has to be brought up to date first.",
  ]
}
