"""The driver of slotfuzz, which handles many programs; the C++ engine handles one at a time."""
