// Placeholder until the first file of SecretMemory lands.
