"""Records of findings, for tests of what reads and writes them."""

from slotfuzz.schema.record import Finding


def finding(identifier: str = "x-1", **fields) -> Finding:
    """A finding of the core with FIELDS; all others say as little as they can."""
    return Finding(**{**dict(
        id=identifier, signature="signal SIGSEGV", kind="SIGSEGV", subject="core",
        target="storage", oracle="signal", contract="", lines=0, runs_to_find=0,
        seconds_to_find=0, rate=1.0, rate_low=0, seed=0, versions={}, minimize_runs=0,
        minimize_seconds=0, one_minimal=True), **fields})
