"""Tests of harness/slotfuzz/schema/."""
