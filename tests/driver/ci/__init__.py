"""Tests of harness/slotfuzz/ci/."""
