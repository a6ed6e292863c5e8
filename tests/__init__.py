"""The tests; the tree mirrors the code. tests/steps holds the steps of ./slotfuzz test."""
