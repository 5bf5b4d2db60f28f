// Status codes of time stamps; none of them has a cause here. The numbers are Apple's, the words are our own.

/// The time stamp is missing.
public let errSecTimestampMissing: OSStatus = -67882
/// The time stamp is wrong.
public let errSecTimestampInvalid: OSStatus = -67883
/// The time stamp is not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// The service for time stamps does not answer.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// The service for time stamps does not know the algorithm.
public let errSecTimestampBadAlg: OSStatus = -67886
/// The service for time stamps did not understand the request.
public let errSecTimestampBadRequest: OSStatus = -67887
/// The service for time stamps cannot read the data.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// The service for time stamps has no clock now.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// The service for time stamps does not have this policy.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// The service for time stamps does not have this extension.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// The service for time stamps does not have the further information.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// The service for time stamps failed.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// The time of the signature is missing.
public let errSecSigningTimeMissing: OSStatus = -67894
/// The service for time stamps refused.
public let errSecTimestampRejection: OSStatus = -67895
/// The time stamp is not ready yet.
public let errSecTimestampWaiting: OSStatus = -67896
/// A time stamp is about to be revoked.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// A time stamp was revoked.
public let errSecTimestampRevocationNotification: OSStatus = -67898

extension StatusText {
  /// What the codes of this file mean.
  static let timestampStatus: [OSStatus: String] = [
    errSecTimestampMissing: "The time stamp is missing.",
    errSecTimestampInvalid: "The time stamp is wrong.",
    errSecTimestampNotTrusted: "The time stamp is not trusted.",
    errSecTimestampServiceNotAvailable: "The service for time stamps does not answer.",
    errSecTimestampBadAlg: "The service for time stamps does not know the algorithm.",
    errSecTimestampBadRequest: "The service for time stamps did not understand the request.",
    errSecTimestampBadDataFormat: "The service for time stamps cannot read the data.",
    errSecTimestampTimeNotAvailable: "The service for time stamps has no clock now.",
    errSecTimestampUnacceptedPolicy: "The service for time stamps does not have this policy.",
    errSecTimestampUnacceptedExtension: "The service for time stamps does not have this extension.",
    errSecTimestampAddInfoNotAvailable: "The service for time stamps does not have the further information.",
    errSecTimestampSystemFailure: "The service for time stamps failed.",
    errSecSigningTimeMissing: "The time of the signature is missing.",
    errSecTimestampRejection: "The service for time stamps refused.",
    errSecTimestampWaiting: "The time stamp is not ready yet.",
    errSecTimestampRevocationWarning: "A time stamp is about to be revoked.",
    errSecTimestampRevocationNotification: "A time stamp was revoked.",
  ]
}
