// Status codes of cryptographic modules; few of them have a cause here. The numbers are Apple's, the words are our own.

/// It was not started yet.
public let errSecNotInitialized: OSStatus = -67667
/// The handle is not for this use.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// What the integrity check points at was not found.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// The function did not pass its integrity check.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// An error inside.
public let errSecInternalError: OSStatus = -67671
/// Memory failed.
public let errSecMemoryError: OSStatus = -67672
/// The data is wrong.
public let errSecInvalidData: OSStatus = -67673
/// The directory of modules failed.
public let errSecMDSError: OSStatus = -67674
/// The pointer is wrong.
public let errSecInvalidPointer: OSStatus = -67675
/// The self-check failed.
public let errSecSelfCheckFailed: OSStatus = -67676
/// The function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// The module's manifest did not pass its check.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// The unique identifier is wrong.
public let errSecInvalidGUID: OSStatus = -67679
/// The handle is wrong.
public let errSecInvalidHandle: OSStatus = -67680
/// The list of databases is wrong.
public let errSecInvalidDBList: OSStatus = -67681
/// The number of the extra function is wrong.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// The network address is wrong.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// The revocation list is signed already.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// The number of fields is wrong.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// The check failed.
public let errSecVerificationFailure: OSStatus = -67686
/// The tag is not known.
public let errSecUnknownTag: OSStatus = -67687
/// The signature is wrong.
public let errSecInvalidSignature: OSStatus = -67688
/// The name is wrong.
public let errSecInvalidName: OSStatus = -67689
/// The reference names no certificate.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// The group of certificates is wrong.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// There is no such tag.
public let errSecTagNotFound: OSStatus = -67692
/// The query is wrong.
public let errSecInvalidQuery: OSStatus = -67693
/// The value is wrong.
public let errSecInvalidValue: OSStatus = -67694
/// The callback failed.
public let errSecCallbackFailed: OSStatus = -67695
/// The access list could not be deleted.
public let errSecACLDeleteFailed: OSStatus = -67696
/// The access list could not be replaced.
public let errSecACLReplaceFailed: OSStatus = -67697
/// The access list could not be added.
public let errSecACLAddFailed: OSStatus = -67698
/// The access list could not be changed.
public let errSecACLChangeFailed: OSStatus = -67699
/// The credentials are wrong.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// The record is wrong.
public let errSecInvalidRecord: OSStatus = -67701
/// The access list is wrong.
public let errSecInvalidACL: OSStatus = -67702
/// The sample is wrong.
public let errSecInvalidSampleValue: OSStatus = -67703
/// The versions do not fit together.
public let errSecIncompatibleVersion: OSStatus = -67704
/// The right was not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// The scope is wrong.
public let errSecInvalidScope: OSStatus = -67706
/// The integrity check is set up already.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// The integrity check is wrong.
public let errSecInvalidPVC: OSStatus = -67708
/// The manager of modules could not be loaded.
public let errSecEMMLoadFailed: OSStatus = -67709
/// The manager of modules could not be unloaded.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// The add-in could not be loaded.
public let errSecAddinLoadFailed: OSStatus = -67711
/// The reference names no key.
public let errSecInvalidKeyRef: OSStatus = -67712
/// The keys do not depend on each other in this way.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// The add-in could not be unloaded.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// There is no such library.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// The add-in's functions are wrong.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// The set of services is wrong.
public let errSecInvalidServiceMask: OSStatus = -67717
/// The module is not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// The number of the service is wrong.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// The context has no such attribute.
public let errSecAttributeNotInContext: OSStatus = -67720
/// The manager of modules could not be started.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// There is no manager of modules.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// There is no callback for events.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// The input has the wrong length.
public let errSecInputLengthError: OSStatus = -67724
/// The output has the wrong length.
public let errSecOutputLengthError: OSStatus = -67725
/// There is no such right.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// The device reported an error.
public let errSecDeviceError: OSStatus = -67727
/// The handle is in use.
public let errSecAttachHandleBusy: OSStatus = -67728
/// Nobody is logged in.
public let errSecNotLoggedIn: OSStatus = -67729
/// The algorithm is another one.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// The key is used for something else.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// The stored key is of another kind.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// The stored key's header contradicts itself.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// The key's format is not supported.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// The key's size is not supported.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// The set of uses is wrong.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// The set of uses is not supported.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// The set of key attributes is wrong.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// The set of key attributes is not supported.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// The key's label is wrong.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// The key's label is not supported.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// The key's format is wrong.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// Several buffers at once are not supported.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// The input buffers are wrong.
public let errSecInvalidInputVector: OSStatus = -67744
/// The output buffers are wrong.
public let errSecInvalidOutputVector: OSStatus = -67745
/// The context is wrong.
public let errSecInvalidContext: OSStatus = -67746

extension StatusText {
  /// What the codes of this file mean.
  static let moduleStatus: [OSStatus: String] = [
    errSecNotInitialized: "It was not started yet.",
    errSecInvalidHandleUsage: "The handle is not for this use.",
    errSecPVCReferentNotFound: "What the integrity check points at was not found.",
    errSecFunctionIntegrityFail: "The function did not pass its integrity check.",
    errSecInternalError: "An error inside.",
    errSecMemoryError: "Memory failed.",
    errSecInvalidData: "The data is wrong.",
    errSecMDSError: "The directory of modules failed.",
    errSecInvalidPointer: "The pointer is wrong.",
    errSecSelfCheckFailed: "The self-check failed.",
    errSecFunctionFailed: "The function failed.",
    errSecModuleManifestVerifyFailed: "The module's manifest did not pass its check.",
    errSecInvalidGUID: "The unique identifier is wrong.",
    errSecInvalidHandle: "The handle is wrong.",
    errSecInvalidDBList: "The list of databases is wrong.",
    errSecInvalidPassthroughID: "The number of the extra function is wrong.",
    errSecInvalidNetworkAddress: "The network address is wrong.",
    errSecCRLAlreadySigned: "The revocation list is signed already.",
    errSecInvalidNumberOfFields: "The number of fields is wrong.",
    errSecVerificationFailure: "The check failed.",
    errSecUnknownTag: "The tag is not known.",
    errSecInvalidSignature: "The signature is wrong.",
    errSecInvalidName: "The name is wrong.",
    errSecInvalidCertificateRef: "The reference names no certificate.",
    errSecInvalidCertificateGroup: "The group of certificates is wrong.",
    errSecTagNotFound: "There is no such tag.",
    errSecInvalidQuery: "The query is wrong.",
    errSecInvalidValue: "The value is wrong.",
    errSecCallbackFailed: "The callback failed.",
    errSecACLDeleteFailed: "The access list could not be deleted.",
    errSecACLReplaceFailed: "The access list could not be replaced.",
    errSecACLAddFailed: "The access list could not be added.",
    errSecACLChangeFailed: "The access list could not be changed.",
    errSecInvalidAccessCredentials: "The credentials are wrong.",
    errSecInvalidRecord: "The record is wrong.",
    errSecInvalidACL: "The access list is wrong.",
    errSecInvalidSampleValue: "The sample is wrong.",
    errSecIncompatibleVersion: "The versions do not fit together.",
    errSecPrivilegeNotGranted: "The right was not granted.",
    errSecInvalidScope: "The scope is wrong.",
    errSecPVCAlreadyConfigured: "The integrity check is set up already.",
    errSecInvalidPVC: "The integrity check is wrong.",
    errSecEMMLoadFailed: "The manager of modules could not be loaded.",
    errSecEMMUnloadFailed: "The manager of modules could not be unloaded.",
    errSecAddinLoadFailed: "The add-in could not be loaded.",
    errSecInvalidKeyRef: "The reference names no key.",
    errSecInvalidKeyHierarchy: "The keys do not depend on each other in this way.",
    errSecAddinUnloadFailed: "The add-in could not be unloaded.",
    errSecLibraryReferenceNotFound: "There is no such library.",
    errSecInvalidAddinFunctionTable: "The add-in's functions are wrong.",
    errSecInvalidServiceMask: "The set of services is wrong.",
    errSecModuleNotLoaded: "The module is not loaded.",
    errSecInvalidSubServiceID: "The number of the service is wrong.",
    errSecAttributeNotInContext: "The context has no such attribute.",
    errSecModuleManagerInitializeFailed: "The manager of modules could not be started.",
    errSecModuleManagerNotFound: "There is no manager of modules.",
    errSecEventNotificationCallbackNotFound: "There is no callback for events.",
    errSecInputLengthError: "The input has the wrong length.",
    errSecOutputLengthError: "The output has the wrong length.",
    errSecPrivilegeNotSupported: "There is no such right.",
    errSecDeviceError: "The device reported an error.",
    errSecAttachHandleBusy: "The handle is in use.",
    errSecNotLoggedIn: "Nobody is logged in.",
    errSecAlgorithmMismatch: "The algorithm is another one.",
    errSecKeyUsageIncorrect: "The key is used for something else.",
    errSecKeyBlobTypeIncorrect: "The stored key is of another kind.",
    errSecKeyHeaderInconsistent: "The stored key's header contradicts itself.",
    errSecUnsupportedKeyFormat: "The key's format is not supported.",
    errSecUnsupportedKeySize: "The key's size is not supported.",
    errSecInvalidKeyUsageMask: "The set of uses is wrong.",
    errSecUnsupportedKeyUsageMask: "The set of uses is not supported.",
    errSecInvalidKeyAttributeMask: "The set of key attributes is wrong.",
    errSecUnsupportedKeyAttributeMask: "The set of key attributes is not supported.",
    errSecInvalidKeyLabel: "The key's label is wrong.",
    errSecUnsupportedKeyLabel: "The key's label is not supported.",
    errSecInvalidKeyFormat: "The key's format is wrong.",
    errSecUnsupportedVectorOfBuffers: "Several buffers at once are not supported.",
    errSecInvalidInputVector: "The input buffers are wrong.",
    errSecInvalidOutputVector: "The output buffers are wrong.",
    errSecInvalidContext: "The context is wrong.",
  ]
}
