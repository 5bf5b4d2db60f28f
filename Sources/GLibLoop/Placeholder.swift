// Placeholder until the first file of GLibLoop lands.
