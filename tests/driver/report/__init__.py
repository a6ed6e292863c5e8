"""Tests of harness/slotfuzz/report/."""
