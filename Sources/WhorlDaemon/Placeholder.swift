// Placeholder until the first file of WhorlDaemon lands.
