"""Tests of harness/slotfuzz/measure/."""
