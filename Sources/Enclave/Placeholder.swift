// Placeholder until the first file of Enclave lands.
