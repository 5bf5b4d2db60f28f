// Placeholder until the first file of PAMModule lands.
