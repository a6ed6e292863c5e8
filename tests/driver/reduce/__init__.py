"""Tests of harness/slotfuzz/reduce/."""
