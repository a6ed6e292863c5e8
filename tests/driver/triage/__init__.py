"""Tests of harness/slotfuzz/triage/."""
