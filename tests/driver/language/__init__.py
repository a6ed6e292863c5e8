"""Tests of harness/slotfuzz/language/."""
