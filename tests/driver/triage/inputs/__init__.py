"""Tests of harness/slotfuzz/triage/inputs/."""
