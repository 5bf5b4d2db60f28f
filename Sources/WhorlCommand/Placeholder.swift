// Placeholder until the first file of WhorlCommand lands.
