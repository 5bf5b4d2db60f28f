// Placeholder until the first file of Keychain lands.
