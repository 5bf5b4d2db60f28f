// Placeholder until the first file of Fingerprint lands.
