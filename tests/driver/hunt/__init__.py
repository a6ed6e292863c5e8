"""Tests of harness/slotfuzz/hunt/."""
