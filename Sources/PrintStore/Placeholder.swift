// Placeholder until the first file of PrintStore lands.
