"""Tests of harness/slotfuzz/inputs/."""
