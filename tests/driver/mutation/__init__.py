"""Tests of harness/slotfuzz/mutation/."""
