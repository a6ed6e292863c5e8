"""Tests of harness/slotfuzz/subject/."""
