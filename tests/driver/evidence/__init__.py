"""Tests of harness/slotfuzz/evidence/."""
