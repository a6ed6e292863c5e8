"""One file per command of ./slotfuzz; the first sentence of each is what -h shows."""
