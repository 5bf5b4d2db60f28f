// Status codes of parameters of algorithms. The numbers are Apple's, the words are our own.

/// The algorithm is wrong.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The attribute for the key is wrong.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// The attribute for the key is missing.
public let errSecMissingAttributeKey: OSStatus = -67749
/// The attribute for the initialisation vector is wrong.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// The attribute for the initialisation vector is missing.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// The attribute for the salt is wrong.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// The attribute for the salt is missing.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// The attribute for the padding is wrong.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// The attribute for the padding is missing.
public let errSecMissingAttributePadding: OSStatus = -67755
/// The attribute for the random number is wrong.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// The attribute for the random number is missing.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// The attribute for the seed is wrong.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// The attribute for the seed is missing.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// The attribute for the passphrase is wrong.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// The attribute for the passphrase is missing.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// The attribute for the key length is wrong.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// The attribute for the key length is missing.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// The attribute for the block size is wrong.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// The attribute for the block size is missing.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// The attribute for the size of the output is wrong.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// The attribute for the size of the output is missing.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// The attribute for the number of rounds is wrong.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// The attribute for the number of rounds is missing.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// The algorithm's parameters are wrong.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// The algorithm's parameters are missing.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// The attribute for the label is wrong.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// The attribute for the label is missing.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// The attribute for the key type is wrong.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// The attribute for the key type is missing.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// The attribute for the mode is wrong.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// The attribute for the mode is missing.
public let errSecMissingAttributeMode: OSStatus = -67777
/// The attribute for the number of effective bits is wrong.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// The attribute for the number of effective bits is missing.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// The attribute for the first day is wrong.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// The attribute for the first day is missing.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// The attribute for the last day is wrong.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// The attribute for the last day is missing.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// The attribute for the version is wrong.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// The attribute for the version is missing.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// The attribute for the prime is wrong.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// The attribute for the prime is missing.
public let errSecMissingAttributePrime: OSStatus = -67787
/// The attribute for the base is wrong.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// The attribute for the base is missing.
public let errSecMissingAttributeBase: OSStatus = -67789
/// The attribute for the subprime is wrong.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// The attribute for the subprime is missing.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// The attribute for the number of rounds of a derivation is wrong.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// The attribute for the number of rounds of a derivation is missing.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// The attribute for the database's handle is wrong.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// The attribute for the database's handle is missing.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// The attribute for the access credentials is wrong.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// The attribute for the access credentials is missing.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// The attribute for the public key's format is wrong.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// The attribute for the public key's format is missing.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// The attribute for the private key's format is wrong.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// The attribute for the private key's format is missing.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// The attribute for the symmetric key's format is wrong.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// The attribute for the symmetric key's format is missing.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// The attribute for the wrapped key's format is wrong.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// The attribute for the wrapped key's format is missing.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805

extension StatusText {
  /// What the codes of this file mean.
  static let parameterStatus: [OSStatus: String] = [
    errSecInvalidAlgorithm: "The algorithm is wrong.",
    errSecInvalidAttributeKey: "The attribute for the key is wrong.",
    errSecMissingAttributeKey: "The attribute for the key is missing.",
    errSecInvalidAttributeInitVector: "The attribute for the initialisation vector is wrong.",
    errSecMissingAttributeInitVector: "The attribute for the initialisation vector is missing.",
    errSecInvalidAttributeSalt: "The attribute for the salt is wrong.",
    errSecMissingAttributeSalt: "The attribute for the salt is missing.",
    errSecInvalidAttributePadding: "The attribute for the padding is wrong.",
    errSecMissingAttributePadding: "The attribute for the padding is missing.",
    errSecInvalidAttributeRandom: "The attribute for the random number is wrong.",
    errSecMissingAttributeRandom: "The attribute for the random number is missing.",
    errSecInvalidAttributeSeed: "The attribute for the seed is wrong.",
    errSecMissingAttributeSeed: "The attribute for the seed is missing.",
    errSecInvalidAttributePassphrase: "The attribute for the passphrase is wrong.",
    errSecMissingAttributePassphrase: "The attribute for the passphrase is missing.",
    errSecInvalidAttributeKeyLength: "The attribute for the key length is wrong.",
    errSecMissingAttributeKeyLength: "The attribute for the key length is missing.",
    errSecInvalidAttributeBlockSize: "The attribute for the block size is wrong.",
    errSecMissingAttributeBlockSize: "The attribute for the block size is missing.",
    errSecInvalidAttributeOutputSize: "The attribute for the size of the output is wrong.",
    errSecMissingAttributeOutputSize: "The attribute for the size of the output is missing.",
    errSecInvalidAttributeRounds: "The attribute for the number of rounds is wrong.",
    errSecMissingAttributeRounds: "The attribute for the number of rounds is missing.",
    errSecInvalidAlgorithmParms: "The algorithm's parameters are wrong.",
    errSecMissingAlgorithmParms: "The algorithm's parameters are missing.",
    errSecInvalidAttributeLabel: "The attribute for the label is wrong.",
    errSecMissingAttributeLabel: "The attribute for the label is missing.",
    errSecInvalidAttributeKeyType: "The attribute for the key type is wrong.",
    errSecMissingAttributeKeyType: "The attribute for the key type is missing.",
    errSecInvalidAttributeMode: "The attribute for the mode is wrong.",
    errSecMissingAttributeMode: "The attribute for the mode is missing.",
    errSecInvalidAttributeEffectiveBits: "The attribute for the number of effective bits is wrong.",
    errSecMissingAttributeEffectiveBits: "The attribute for the number of effective bits is missing.",
    errSecInvalidAttributeStartDate: "The attribute for the first day is wrong.",
    errSecMissingAttributeStartDate: "The attribute for the first day is missing.",
    errSecInvalidAttributeEndDate: "The attribute for the last day is wrong.",
    errSecMissingAttributeEndDate: "The attribute for the last day is missing.",
    errSecInvalidAttributeVersion: "The attribute for the version is wrong.",
    errSecMissingAttributeVersion: "The attribute for the version is missing.",
    errSecInvalidAttributePrime: "The attribute for the prime is wrong.",
    errSecMissingAttributePrime: "The attribute for the prime is missing.",
    errSecInvalidAttributeBase: "The attribute for the base is wrong.",
    errSecMissingAttributeBase: "The attribute for the base is missing.",
    errSecInvalidAttributeSubprime: "The attribute for the subprime is wrong.",
    errSecMissingAttributeSubprime: "The attribute for the subprime is missing.",
    errSecInvalidAttributeIterationCount: "The attribute for the number of rounds of a derivation is wrong.",
    errSecMissingAttributeIterationCount: "The attribute for the number of rounds of a derivation is missing.",
    errSecInvalidAttributeDLDBHandle: "The attribute for the database's handle is wrong.",
    errSecMissingAttributeDLDBHandle: "The attribute for the database's handle is missing.",
    errSecInvalidAttributeAccessCredentials: "The attribute for the access credentials is wrong.",
    errSecMissingAttributeAccessCredentials: "The attribute for the access credentials is missing.",
    errSecInvalidAttributePublicKeyFormat: "The attribute for the public key's format is wrong.",
    errSecMissingAttributePublicKeyFormat: "The attribute for the public key's format is missing.",
    errSecInvalidAttributePrivateKeyFormat: "The attribute for the private key's format is wrong.",
    errSecMissingAttributePrivateKeyFormat: "The attribute for the private key's format is missing.",
    errSecInvalidAttributeSymmetricKeyFormat: "The attribute for the symmetric key's format is wrong.",
    errSecMissingAttributeSymmetricKeyFormat: "The attribute for the symmetric key's format is missing.",
    errSecInvalidAttributeWrappedKeyFormat: "The attribute for the wrapped key's format is wrong.",
    errSecMissingAttributeWrappedKeyFormat: "The attribute for the wrapped key's format is missing.",
  ]
}
