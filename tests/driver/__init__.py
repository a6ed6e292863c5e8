"""Tests of the driver, on test doubles of the engine and of slotcore."""
