// Status codes of the keychain and of the system under it. The numbers are Apple's, the words are our own.

/// It worked.
public let errSecSuccess: OSStatus = 0
/// This system does not do that.
public let errSecUnimplemented: OSStatus = -4
/// There is no room left on the disk.
public let errSecDiskFull: OSStatus = -34
/// Reading or writing failed.
public let errSecIO: OSStatus = -36
/// The file is open for writing already.
public let errSecOpWr: OSStatus = -49
/// An argument is wrong.
public let errSecParam: OSStatus = -50
/// There is no permission to write.
public let errSecWrPerm: OSStatus = -61
/// There is not enough memory.
public let errSecAllocate: OSStatus = -108
/// The user declined.
public let errSecUserCanceled: OSStatus = -128
/// The request makes no sense.
public let errSecBadReq: OSStatus = -909
/// A part of the system failed.
public let errSecInternalComponent: OSStatus = -2070
/// The access list has another form than the simple one.
public let errSecACLNotSimple: OSStatus = -25240
/// There is no such policy.
public let errSecPolicyNotFound: OSStatus = -25241
/// The trust setting is wrong.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// The item has no access control.
public let errSecNoAccessForItem: OSStatus = -25243
/// The owner cannot be changed so.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// Whether to trust it cannot be found out.
public let errSecTrustNotAvailable: OSStatus = -25245
/// The format is not supported.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The format is not known.
public let errSecUnknownFormat: OSStatus = -25257
/// The key may leave only encrypted.
public let errSecKeyIsSensitive: OSStatus = -25258
/// There is more than one private key.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// A passphrase is needed.
public let errSecPassphraseRequired: OSStatus = -25260
/// The reference names no password.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// The trust settings are damaged.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// There are no trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// The PKCS #12 file is damaged, or the password is not its own.
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// The keychain cannot be reached.
public let errSecNotAvailable: OSStatus = -25291
/// What should be changed is read-only.
public let errSecReadOnly: OSStatus = -25292
/// The user was not recognised.
public let errSecAuthFailed: OSStatus = -25293
/// There is no such keychain.
public let errSecNoSuchKeychain: OSStatus = -25294
/// That is no keychain.
public let errSecInvalidKeychain: OSStatus = -25295
/// There is a keychain of this name already.
public let errSecDuplicateKeychain: OSStatus = -25296
/// The callback is there already.
public let errSecDuplicateCallback: OSStatus = -25297
/// That is no callback.
public let errSecInvalidCallback: OSStatus = -25298
/// There is such an item already.
public let errSecDuplicateItem: OSStatus = -25299
/// There is no such item.
public let errSecItemNotFound: OSStatus = -25300
/// The buffer is too small.
public let errSecBufferTooSmall: OSStatus = -25301
/// The data is too large.
public let errSecDataTooLarge: OSStatus = -25302
/// There is no such attribute.
public let errSecNoSuchAttr: OSStatus = -25303
/// The reference names no item.
public let errSecInvalidItemRef: OSStatus = -25304
/// The reference names no search.
public let errSecInvalidSearchRef: OSStatus = -25305
/// There is no such class of items.
public let errSecNoSuchClass: OSStatus = -25306
/// There is no default keychain.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// The user would have to be asked, which is not allowed or not possible now.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// The attribute is read-only.
public let errSecReadOnlyAttr: OSStatus = -25309
/// The version is wrong.
public let errSecWrongSecVersion: OSStatus = -25310
/// Keys cannot have this size.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// There is nothing to store it with.
public let errSecNoStorageModule: OSStatus = -25312
/// There is nothing to read certificates with.
public let errSecNoCertificateModule: OSStatus = -25313
/// There is nothing to apply the policy with.
public let errSecNoPolicyModule: OSStatus = -25314
/// The user has to be asked.
public let errSecInteractionRequired: OSStatus = -25315
/// The data is not there.
public let errSecDataNotAvailable: OSStatus = -25316
/// The data cannot be changed.
public let errSecDataNotModifiable: OSStatus = -25317
/// No chain of certificates could be made.
public let errSecCreateChainFailed: OSStatus = -25318
/// There are no preferences of this kind.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// The display sleeps, so that nobody can be asked.
public let errSecInDarkWake: OSStatus = -25320
/// The signature of the message is wrong.
public let errSecMPSignatureInvalid: OSStatus = -25327
/// The other side speaks a version that is too old.
public let errSecOTRTooOld: OSStatus = -25328
/// The other side's identity is of a version that is too new.
public let errSecOTRIDTooNew: OSStatus = -25329

extension StatusText {
  /// What the codes of this file mean.
  static let itemStatus: [OSStatus: String] = [
    errSecSuccess: "It worked.",
    errSecUnimplemented: "This system does not do that.",
    errSecDiskFull: "There is no room left on the disk.",
    errSecIO: "Reading or writing failed.",
    errSecOpWr: "The file is open for writing already.",
    errSecParam: "An argument is wrong.",
    errSecWrPerm: "There is no permission to write.",
    errSecAllocate: "There is not enough memory.",
    errSecUserCanceled: "The user declined.",
    errSecBadReq: "The request makes no sense.",
    errSecInternalComponent: "A part of the system failed.",
    errSecACLNotSimple: "The access list has another form than the simple one.",
    errSecPolicyNotFound: "There is no such policy.",
    errSecInvalidTrustSetting: "The trust setting is wrong.",
    errSecNoAccessForItem: "The item has no access control.",
    errSecInvalidOwnerEdit: "The owner cannot be changed so.",
    errSecTrustNotAvailable: "Whether to trust it cannot be found out.",
    errSecUnsupportedFormat: "The format is not supported.",
    errSecUnknownFormat: "The format is not known.",
    errSecKeyIsSensitive: "The key may leave only encrypted.",
    errSecMultiplePrivKeys: "There is more than one private key.",
    errSecPassphraseRequired: "A passphrase is needed.",
    errSecInvalidPasswordRef: "The reference names no password.",
    errSecInvalidTrustSettings: "The trust settings are damaged.",
    errSecNoTrustSettings: "There are no trust settings.",
    errSecPkcs12VerifyFailure: "The PKCS #12 file is damaged, or the password is not its own.",
    errSecNotAvailable: "The keychain cannot be reached; the command whorl status says why.",
    errSecReadOnly: "What should be changed is read-only.",
    errSecAuthFailed: "The user was not recognised.",
    errSecNoSuchKeychain: "There is no such keychain.",
    errSecInvalidKeychain: "That is no keychain.",
    errSecDuplicateKeychain: "There is a keychain of this name already.",
    errSecDuplicateCallback: "The callback is there already.",
    errSecInvalidCallback: "That is no callback.",
    errSecDuplicateItem: "There is such an item already.",
    errSecItemNotFound: "There is no such item.",
    errSecBufferTooSmall: "The buffer is too small.",
    errSecDataTooLarge: "The data is too large.",
    errSecNoSuchAttr: "There is no such attribute.",
    errSecInvalidItemRef: "The reference names no item.",
    errSecInvalidSearchRef: "The reference names no search.",
    errSecNoSuchClass: "There is no such class of items.",
    errSecNoDefaultKeychain: "There is no default keychain.",
    errSecInteractionNotAllowed: "The user would have to be asked, which is not allowed or not possible now.",
    errSecReadOnlyAttr: "The attribute is read-only.",
    errSecWrongSecVersion: "The version is wrong.",
    errSecKeySizeNotAllowed: "Keys cannot have this size.",
    errSecNoStorageModule: "There is nothing to store it with.",
    errSecNoCertificateModule: "There is nothing to read certificates with.",
    errSecNoPolicyModule: "There is nothing to apply the policy with.",
    errSecInteractionRequired: "The user has to be asked.",
    errSecDataNotAvailable: "The data is not there.",
    errSecDataNotModifiable: "The data cannot be changed.",
    errSecCreateChainFailed: "No chain of certificates could be made.",
    errSecInvalidPrefsDomain: "There are no preferences of this kind.",
    errSecInDarkWake: "The display sleeps, so that nobody can be asked.",
    errSecMPSignatureInvalid: "The signature of the message is wrong.",
    errSecOTRTooOld: "The other side speaks a version that is too old.",
    errSecOTRIDTooNew: "The other side's identity is of a version that is too new.",
  ]
}
