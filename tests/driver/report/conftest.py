"""Campaigns for tests of the report: findings and series of hunts in a folder."""

import pytest

from slotfuzz.finding import finding
from slotfuzz.schema import shape
from slotfuzz.schema.record import Finding

# The version string of Debian's 1.13.1.
SAYS = {"1.13.1": "1.13.0a0"}
SCRIPT = "# subject: torch\nimport torch as T\n\nif check:\n    pass\n\n{}\n"
RECORD = {
    "signature": "signal SIGSEGV in <f>", "kind": "SIGSEGV in <f>", "subject": "torch",
    "target": "tensor", "oracle": "signal", "contract": "", "lines": 0, "runs_to_find": 9,
    "seconds_to_find": 0.5, "minimize_runs": 3, "minimize_seconds": 0.1, "one_minimal": True,
    "rate": 1.0, "rate_low": 0.84, "verified_runs": 20, "seed": 1,
}


@pytest.fixture
def campaign(tmp_path):
    """A function that writes a finding and returns the folder of all findings."""
    def write(identifier, program, release="2.6.0", files=None, **fields):
        made = {**RECORD, "id": identifier, "versions": {"torch": SAYS.get(release, release)},
                **fields}
        assert shape.wrong_as(made, Finding) == ""
        record = shape.made(Finding, made)
        out = tmp_path / "repro" / f"torch-{release}"
        out.mkdir(parents=True, exist_ok=True)
        finding.write(out, record, {"repro.py": SCRIPT.format(program),
                                    "NOTES.md": f"# title of {identifier}\n", **(files or {})})
        return tmp_path / "repro"
    return write
