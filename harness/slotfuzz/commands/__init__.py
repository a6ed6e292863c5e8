"""One file for each command of ./slotfuzz; -h shows the first sentence of each."""
