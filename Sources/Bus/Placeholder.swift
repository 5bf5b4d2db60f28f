// Placeholder until the first file of Bus lands.
