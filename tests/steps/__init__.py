"""The steps of ./slotfuzz test."""
