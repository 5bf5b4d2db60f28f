// Placeholder until the first file of WhorlClient lands.
