// Status codes of certificates, revocation and code signatures; none of them has a cause here. The numbers are Apple's, the words are our own.

/// The service is not there.
public let errSecServiceNotAvailable: OSStatus = -67585
/// Too little is known about who asks.
public let errSecInsufficientClientID: OSStatus = -67586
/// The device was reset.
public let errSecDeviceReset: OSStatus = -67587
/// The device failed.
public let errSecDeviceFailed: OSStatus = -67588
/// The program could not be put into the access list.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// The public key lacks a part.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// The signature is another one's.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// The key's first day is no date.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// The key's last day is no date.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// The value could not be converted.
public let errSecConversionError: OSStatus = -67594
/// The other side fell back to SSL 2.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// There is no more room in the quota.
public let errSecQuotaExceeded: OSStatus = -67596
/// The file is too large.
public let errSecFileTooBig: OSStatus = -67597
/// The database holds a damaged record.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// The stored key is damaged.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// The database holds a record of another version.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// The stored key is of another version.
public let errSecIncompatibleKeyBlob: OSStatus = -67601
/// The certificate is another host's.
public let errSecHostNameMismatch: OSStatus = -67602
/// A critical extension is not known.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// The certificate lacks basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604
/// The certificate does not say whether it is an authority's.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// The authority's key identifier is wrong.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// The subject's key identifier is wrong.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// The key is not for this use.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// The extended key usage is wrong.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The identifiers of the chain do not fit together.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// The chain is longer than its authority allows.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// The root certificate is wrong.
public let errSecInvalidRoot: OSStatus = -67612
/// The revocation list is out of date.
public let errSecCRLExpired: OSStatus = -67613
/// The revocation list is not in force yet.
public let errSecCRLNotValidYet: OSStatus = -67614
/// There is no revocation list.
public let errSecCRLNotFound: OSStatus = -67615
/// The server of the revocation list does not answer.
public let errSecCRLServerDown: OSStatus = -67616
/// The address of the revocation list is wrong.
public let errSecCRLBadURI: OSStatus = -67617
/// The certificate has an extension that is not known.
public let errSecUnknownCertExtension: OSStatus = -67618
/// The revocation list has an extension that is not known.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// The revocation list is not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620
/// The revocation list does not meet the policy.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// The revocation list is not for this certificate.
public let errSecIDPFailure: OSStatus = -67622
/// The certificate has no such e-mail address.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// The certificate's extended key usage is not for e-mail.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// The certificate's key usage is not for e-mail.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// The certificate's key usage is not marked as critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// The certificate has no e-mail address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// The certificate's alternative name is not marked as critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// The certificate's extended key usage is not for TLS.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// The responder for revocations answered nonsense.
public let errSecOCSPBadResponse: OSStatus = -67630
/// The responder for revocations did not understand the question.
public let errSecOCSPBadRequest: OSStatus = -67631
/// The responder for revocations does not answer.
public let errSecOCSPUnavailable: OSStatus = -67632
/// The responder for revocations does not know the certificate.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// The data ends too early.
public let errSecEndOfData: OSStatus = -67634
/// Whether a certificate is revoked could not be found out.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// The network failed.
public let errSecNetworkFailure: OSStatus = -67636
/// The responder's answer leads to no trusted root.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// The record was changed meanwhile.
public let errSecRecordModified: OSStatus = -67638
/// The responder's signature is wrong.
public let errSecOCSPSignatureError: OSStatus = -67639
/// The responder's answer is by nobody known.
public let errSecOCSPNoSigner: OSStatus = -67640
/// The responder says that the question is malformed.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// The responder failed.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// The responder wants to be asked later.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// The responder wants signed questions.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// The responder does not answer this caller.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// The responder answered another question.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646
/// The code's chain of certificates has the wrong length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// The code's certificates lack basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// The code's chain is longer than allowed.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// The code's certificate lacks an extended key usage.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// The code is signed for development alone.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// The resource's chain of certificates has the wrong length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// The resource's certificate is not for signing resources.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653
/// The trust settings deny it.
public let errSecTrustSettingDeny: OSStatus = -67654
/// The subject's name is wrong.
public let errSecInvalidSubjectName: OSStatus = -67655
/// The certificate has a statement that is not known.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656
/// MobileMe keeps the request for later.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// MobileMe sent the request elsewhere.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// The MobileMe server failed.
public let errSecMobileMeServerError: OSStatus = -67659
/// The MobileMe server does not answer.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// The MobileMe server has that already.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// A service of the MobileMe server failed.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// MobileMe works on such a request already.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// MobileMe works on no such request.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// MobileMe refused the signing request.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// The MobileMe request contradicts itself.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666

extension StatusText {
  /// What the codes of this file mean.
  static let trustStatus: [OSStatus: String] = [
    errSecServiceNotAvailable: "The service is not there.",
    errSecInsufficientClientID: "Too little is known about who asks.",
    errSecDeviceReset: "The device was reset.",
    errSecDeviceFailed: "The device failed.",
    errSecAppleAddAppACLSubject: "The program could not be put into the access list.",
    errSecApplePublicKeyIncomplete: "The public key lacks a part.",
    errSecAppleSignatureMismatch: "The signature is another one's.",
    errSecAppleInvalidKeyStartDate: "The key's first day is no date.",
    errSecAppleInvalidKeyEndDate: "The key's last day is no date.",
    errSecConversionError: "The value could not be converted.",
    errSecAppleSSLv2Rollback: "The other side fell back to SSL 2.",
    errSecQuotaExceeded: "There is no more room in the quota.",
    errSecFileTooBig: "The file is too large.",
    errSecInvalidDatabaseBlob: "The database holds a damaged record.",
    errSecInvalidKeyBlob: "The stored key is damaged.",
    errSecIncompatibleDatabaseBlob: "The database holds a record of another version.",
    errSecIncompatibleKeyBlob: "The stored key is of another version.",
    errSecHostNameMismatch: "The certificate is another host's.",
    errSecUnknownCriticalExtensionFlag: "A critical extension is not known.",
    errSecNoBasicConstraints: "The certificate lacks basic constraints.",
    errSecNoBasicConstraintsCA: "The certificate does not say whether it is an authority's.",
    errSecInvalidAuthorityKeyID: "The authority's key identifier is wrong.",
    errSecInvalidSubjectKeyID: "The subject's key identifier is wrong.",
    errSecInvalidKeyUsageForPolicy: "The key is not for this use.",
    errSecInvalidExtendedKeyUsage: "The extended key usage is wrong.",
    errSecInvalidIDLinkage: "The identifiers of the chain do not fit together.",
    errSecPathLengthConstraintExceeded: "The chain is longer than its authority allows.",
    errSecInvalidRoot: "The root certificate is wrong.",
    errSecCRLExpired: "The revocation list is out of date.",
    errSecCRLNotValidYet: "The revocation list is not in force yet.",
    errSecCRLNotFound: "There is no revocation list.",
    errSecCRLServerDown: "The server of the revocation list does not answer.",
    errSecCRLBadURI: "The address of the revocation list is wrong.",
    errSecUnknownCertExtension: "The certificate has an extension that is not known.",
    errSecUnknownCRLExtension: "The revocation list has an extension that is not known.",
    errSecCRLNotTrusted: "The revocation list is not trusted.",
    errSecCRLPolicyFailed: "The revocation list does not meet the policy.",
    errSecIDPFailure: "The revocation list is not for this certificate.",
    errSecSMIMEEmailAddressesNotFound: "The certificate has no such e-mail address.",
    errSecSMIMEBadExtendedKeyUsage: "The certificate's extended key usage is not for e-mail.",
    errSecSMIMEBadKeyUsage: "The certificate's key usage is not for e-mail.",
    errSecSMIMEKeyUsageNotCritical: "The certificate's key usage is not marked as critical.",
    errSecSMIMENoEmailAddress: "The certificate has no e-mail address.",
    errSecSMIMESubjAltNameNotCritical: "The certificate's alternative name is not marked as critical.",
    errSecSSLBadExtendedKeyUsage: "The certificate's extended key usage is not for TLS.",
    errSecOCSPBadResponse: "The responder for revocations answered nonsense.",
    errSecOCSPBadRequest: "The responder for revocations did not understand the question.",
    errSecOCSPUnavailable: "The responder for revocations does not answer.",
    errSecOCSPStatusUnrecognized: "The responder for revocations does not know the certificate.",
    errSecEndOfData: "The data ends too early.",
    errSecIncompleteCertRevocationCheck: "Whether a certificate is revoked could not be found out.",
    errSecNetworkFailure: "The network failed.",
    errSecOCSPNotTrustedToAnchor: "The responder's answer leads to no trusted root.",
    errSecRecordModified: "The record was changed meanwhile.",
    errSecOCSPSignatureError: "The responder's signature is wrong.",
    errSecOCSPNoSigner: "The responder's answer is by nobody known.",
    errSecOCSPResponderMalformedReq: "The responder says that the question is malformed.",
    errSecOCSPResponderInternalError: "The responder failed.",
    errSecOCSPResponderTryLater: "The responder wants to be asked later.",
    errSecOCSPResponderSignatureRequired: "The responder wants signed questions.",
    errSecOCSPResponderUnauthorized: "The responder does not answer this caller.",
    errSecOCSPResponseNonceMismatch: "The responder answered another question.",
    errSecCodeSigningBadCertChainLength: "The code's chain of certificates has the wrong length.",
    errSecCodeSigningNoBasicConstraints: "The code's certificates lack basic constraints.",
    errSecCodeSigningBadPathLengthConstraint: "The code's chain is longer than allowed.",
    errSecCodeSigningNoExtendedKeyUsage: "The code's certificate lacks an extended key usage.",
    errSecCodeSigningDevelopment: "The code is signed for development alone.",
    errSecResourceSignBadCertChainLength: "The resource's chain of certificates has the wrong length.",
    errSecResourceSignBadExtKeyUsage: "The resource's certificate is not for signing resources.",
    errSecTrustSettingDeny: "The trust settings deny it.",
    errSecInvalidSubjectName: "The subject's name is wrong.",
    errSecUnknownQualifiedCertStatement: "The certificate has a statement that is not known.",
    errSecMobileMeRequestQueued: "MobileMe keeps the request for later.",
    errSecMobileMeRequestRedirected: "MobileMe sent the request elsewhere.",
    errSecMobileMeServerError: "The MobileMe server failed.",
    errSecMobileMeServerNotAvailable: "The MobileMe server does not answer.",
    errSecMobileMeServerAlreadyExists: "The MobileMe server has that already.",
    errSecMobileMeServerServiceErr: "A service of the MobileMe server failed.",
    errSecMobileMeRequestAlreadyPending: "MobileMe works on such a request already.",
    errSecMobileMeNoRequestPending: "MobileMe works on no such request.",
    errSecMobileMeCSRVerifyFailure: "MobileMe refused the signing request.",
    errSecMobileMeFailedConsistencyCheck: "The MobileMe request contradicts itself.",
  ]
}
