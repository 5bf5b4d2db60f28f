# A parameter for Core Foundation's strings is AnyObject, which Swift's strings are not.
sed -i 's/deleteKeychainSecClass(_ secClass: AnyObject)/deleteKeychainSecClass(_ secClass: Any)/' \
  SwiftKeychainWrapper/KeychainWrapper.swift
