"""Tests of what a user types, from harness/slotfuzz/commands/ down."""
