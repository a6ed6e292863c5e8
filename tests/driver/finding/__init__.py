"""Tests of harness/slotfuzz/finding/."""
