# A parameter for Core Foundation's strings is AnyObject, which Swift's strings are not.
# What is known to fail, for an account stored as Data comes back as a text:
# fails: KeychainWrapperDefaultWrapperTests.testKeysOneKey
# fails: KeychainWrapperDefaultWrapperTests.testKeysMultipleKeys
sed -i 's/deleteKeychainSecClass(_ secClass: AnyObject)/deleteKeychainSecClass(_ secClass: Any)/' \
  SwiftKeychainWrapper/KeychainWrapper.swift
