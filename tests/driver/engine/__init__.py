"""Tests of harness/slotfuzz/engine/."""
