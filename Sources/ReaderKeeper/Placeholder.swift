// Placeholder until the first file of ReaderKeeper lands.
