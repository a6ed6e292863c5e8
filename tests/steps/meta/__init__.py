"""Steps about fakes, modes and texts."""
