"""Tests of harness/slotfuzz/interleave/."""
