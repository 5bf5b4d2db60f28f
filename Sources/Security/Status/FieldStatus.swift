// Status codes of certificates, databases and their fields. The numbers are Apple's, the words are our own.

/// An operation in steps is under way.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// No operation in steps was begun.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// The verification failed.
public let errSecVerifyFailed: OSStatus = -67808
/// The size of the answer is not known.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// The data does not fit the block size.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// The public key contradicts itself.
public let errSecPublicKeyInconsistent: OSStatus = -67811
/// The device did not pass its check.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// The login name is wrong.
public let errSecInvalidLoginName: OSStatus = -67813
/// Somebody is logged in already.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// The digest algorithm is wrong.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815
/// The group of revocation lists is wrong.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// The certificate cannot be used for that.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// The certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818
/// The certificate is not in force yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The certificate was revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// The certificate is suspended.
public let errSecCertificateSuspended: OSStatus = -67821
/// The credentials do not suffice.
public let errSecInsufficientCredentials: OSStatus = -67822
/// The action is wrong.
public let errSecInvalidAction: OSStatus = -67823
/// The authority is wrong.
public let errSecInvalidAuthority: OSStatus = -67824
/// What had to follow the check failed.
public let errSecVerifyActionFailed: OSStatus = -67825
/// The certificate authority is wrong.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// The authority of the revocation list is wrong.
public let errSecInvaldCRLAuthority: OSStatus = -67827
/// The encoding of the revocation list is wrong.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// The kind of the revocation list is wrong.
public let errSecInvalidCRLType: OSStatus = -67829
/// The revocation list is wrong.
public let errSecInvalidCRL: OSStatus = -67830
/// The kind of form is wrong.
public let errSecInvalidFormType: OSStatus = -67831
/// The number is wrong.
public let errSecInvalidID: OSStatus = -67832
/// The identifier is wrong.
public let errSecInvalidIdentifier: OSStatus = -67833
/// The index is wrong.
public let errSecInvalidIndex: OSStatus = -67834
/// The policy's identifiers are wrong.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// The text is no time.
public let errSecInvalidTimeString: OSStatus = -67836
/// The reason is wrong.
public let errSecInvalidReason: OSStatus = -67837
/// What the request brings is wrong.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// The answer's buffers are wrong.
public let errSecInvalidResponseVector: OSStatus = -67839
/// The rule for when to stop is wrong.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// The tuple is wrong.
public let errSecInvalidTuple: OSStatus = -67841
/// Several values are not supported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// It is not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// There is no default authority.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// The form was rejected.
public let errSecRejectedForm: OSStatus = -67845
/// The request was lost.
public let errSecRequestLost: OSStatus = -67846
/// The request was rejected.
public let errSecRequestRejected: OSStatus = -67847
/// The kind of address is not supported.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// The service is not supported.
public let errSecUnsupportedService: OSStatus = -67849
/// The group of tuples is wrong.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// The first access lists are wrong.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// The credentials of the tuple are wrong.
public let errSecInvalidTupleCredendtials: OSStatus = -67852
/// The encoding is wrong.
public let errSecInvalidEncoding: OSStatus = -67853
/// The time of validity is wrong.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// Who asks is wrong.
public let errSecInvalidRequestor: OSStatus = -67855
/// The description of the request is wrong.
public let errSecRequestDescriptor: OSStatus = -67856
/// The bundle's information is wrong.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// The index into the revocation list is wrong.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// The fields have no values.
public let errSecNoFieldValues: OSStatus = -67859
/// The field's format is not supported.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// The description of the index is not supported.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// The locality is not supported.
public let errSecUnsupportedLocality: OSStatus = -67862
/// So many attributes are not supported.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// So many indexes are not supported.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// So many kinds of records are not supported.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// A field is given more than once.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// The field has another format.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// The parser is wrong.
public let errSecInvalidParsingModule: OSStatus = -67868
/// The database is locked.
public let errSecDatabaseLocked: OSStatus = -67869
/// The store is open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// A value is missing.
public let errSecMissingValue: OSStatus = -67871
/// Limits of this kind are not supported.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// So many conditions are not supported.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// The operator is not supported.
public let errSecUnsupportedOperator: OSStatus = -67874
/// The place of the database is wrong.
public let errSecInvalidDBLocation: OSStatus = -67875
/// The way to open it is wrong.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// The description of the index is wrong.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// The new owner is wrong.
public let errSecInvalidNewOwner: OSStatus = -67878
/// The way to change it is wrong.
public let errSecInvalidModifyMode: OSStatus = -67879
/// An extension that is needed is missing.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// The extended key usage is not marked as critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881

extension StatusText {
  /// What the codes of this file mean.
  static let fieldStatus: [OSStatus: String] = [
    errSecStagedOperationInProgress: "An operation in steps is under way.",
    errSecStagedOperationNotStarted: "No operation in steps was begun.",
    errSecVerifyFailed: "The verification failed.",
    errSecQuerySizeUnknown: "The size of the answer is not known.",
    errSecBlockSizeMismatch: "The data does not fit the block size.",
    errSecPublicKeyInconsistent: "The public key contradicts itself.",
    errSecDeviceVerifyFailed: "The device did not pass its check.",
    errSecInvalidLoginName: "The login name is wrong.",
    errSecAlreadyLoggedIn: "Somebody is logged in already.",
    errSecInvalidDigestAlgorithm: "The digest algorithm is wrong.",
    errSecInvalidCRLGroup: "The group of revocation lists is wrong.",
    errSecCertificateCannotOperate: "The certificate cannot be used for that.",
    errSecCertificateExpired: "The certificate has expired.",
    errSecCertificateNotValidYet: "The certificate is not in force yet.",
    errSecCertificateRevoked: "The certificate was revoked.",
    errSecCertificateSuspended: "The certificate is suspended.",
    errSecInsufficientCredentials: "The credentials do not suffice.",
    errSecInvalidAction: "The action is wrong.",
    errSecInvalidAuthority: "The authority is wrong.",
    errSecVerifyActionFailed: "What had to follow the check failed.",
    errSecInvalidCertAuthority: "The certificate authority is wrong.",
    errSecInvaldCRLAuthority: "The authority of the revocation list is wrong.",
    errSecInvalidCRLEncoding: "The encoding of the revocation list is wrong.",
    errSecInvalidCRLType: "The kind of the revocation list is wrong.",
    errSecInvalidCRL: "The revocation list is wrong.",
    errSecInvalidFormType: "The kind of form is wrong.",
    errSecInvalidID: "The number is wrong.",
    errSecInvalidIdentifier: "The identifier is wrong.",
    errSecInvalidIndex: "The index is wrong.",
    errSecInvalidPolicyIdentifiers: "The policy's identifiers are wrong.",
    errSecInvalidTimeString: "The text is no time.",
    errSecInvalidReason: "The reason is wrong.",
    errSecInvalidRequestInputs: "What the request brings is wrong.",
    errSecInvalidResponseVector: "The answer's buffers are wrong.",
    errSecInvalidStopOnPolicy: "The rule for when to stop is wrong.",
    errSecInvalidTuple: "The tuple is wrong.",
    errSecMultipleValuesUnsupported: "Several values are not supported.",
    errSecNotTrusted: "It is not trusted.",
    errSecNoDefaultAuthority: "There is no default authority.",
    errSecRejectedForm: "The form was rejected.",
    errSecRequestLost: "The request was lost.",
    errSecRequestRejected: "The request was rejected.",
    errSecUnsupportedAddressType: "The kind of address is not supported.",
    errSecUnsupportedService: "The service is not supported.",
    errSecInvalidTupleGroup: "The group of tuples is wrong.",
    errSecInvalidBaseACLs: "The first access lists are wrong.",
    errSecInvalidTupleCredendtials: "The credentials of the tuple are wrong.",
    errSecInvalidEncoding: "The encoding is wrong.",
    errSecInvalidValidityPeriod: "The time of validity is wrong.",
    errSecInvalidRequestor: "Who asks is wrong.",
    errSecRequestDescriptor: "The description of the request is wrong.",
    errSecInvalidBundleInfo: "The bundle's information is wrong.",
    errSecInvalidCRLIndex: "The index into the revocation list is wrong.",
    errSecNoFieldValues: "The fields have no values.",
    errSecUnsupportedFieldFormat: "The field's format is not supported.",
    errSecUnsupportedIndexInfo: "The description of the index is not supported.",
    errSecUnsupportedLocality: "The locality is not supported.",
    errSecUnsupportedNumAttributes: "So many attributes are not supported.",
    errSecUnsupportedNumIndexes: "So many indexes are not supported.",
    errSecUnsupportedNumRecordTypes: "So many kinds of records are not supported.",
    errSecFieldSpecifiedMultiple: "A field is given more than once.",
    errSecIncompatibleFieldFormat: "The field has another format.",
    errSecInvalidParsingModule: "The parser is wrong.",
    errSecDatabaseLocked: "The database is locked.",
    errSecDatastoreIsOpen: "The store is open.",
    errSecMissingValue: "A value is missing.",
    errSecUnsupportedQueryLimits: "Limits of this kind are not supported.",
    errSecUnsupportedNumSelectionPreds: "So many conditions are not supported.",
    errSecUnsupportedOperator: "The operator is not supported.",
    errSecInvalidDBLocation: "The place of the database is wrong.",
    errSecInvalidAccessRequest: "The way to open it is wrong.",
    errSecInvalidIndexInfo: "The description of the index is wrong.",
    errSecInvalidNewOwner: "The new owner is wrong.",
    errSecInvalidModifyMode: "The way to change it is wrong.",
    errSecMissingRequiredExtension: "An extension that is needed is missing.",
    errSecExtendedKeyUsageNotCritical: "The extended key usage is not marked as critical.",
  ]
}
