"""The baseline of a hunt: a list of old findings, so that only new findings make the hunt fail.

A baseline is a folder with findings, at any depth, that an earlier hunt on the base version wrote.
A finding is old if a finding of the baseline has one of its dedup keys. A baseline finding that
no longer fails on the subject makes no finding old.
"""

from concurrent.futures import Executor
from pathlib import Path

from slotfuzz.errors import UserError
from slotfuzz.finding import finding
from slotfuzz.paths import shown

# A finding that fails in some runs only gets this many tries to fail again.
TRIES_MAX = 20


class Baseline:
    """The findings in FOLDER. Call `recall` before the hunt starts."""

    def __init__(self, folder: Path):
        if not folder.is_dir():
            raise UserError(f"--baseline {shown(folder)} is not a folder")
        self.folder = folder
        self.findings = [path.parent.resolve() for path in sorted(folder.rglob("finding.json"))
                         if finding.read(path.parent)]
        if not self.findings:
            raise UserError(f"--baseline {shown(folder)} holds no finding")
        # Names of findings that did not fail again when the hunt started.
        self.gone: list[str] = []
        # Names of findings without a script: the hunt cannot recognize them.
        self.without_script: list[str] = []

    def check_apart(self, out: Path) -> None:
        """UserError if findings of the hunt would become part of its own baseline."""
        if out.resolve().is_relative_to(self.folder.resolve()):
            raise UserError(f"--out {shown(out)} is inside of --baseline {shown(self.folder)};"
                            " a new finding would be old in the next hunt")

    def recall(self, triage, targets: list[str], pool: Executor) -> list[str]:
        """Teaches TRIAGE the findings, on TARGETS of the hunt; returns the programs to suppress.

        The threads of POOL run them.
        """
        folders = [folder for folder in self.findings if (folder / "repro.py").exists()]
        self.without_script += [one.name for one in self.findings if one not in folders]

        def rerun(folder):
            record = finding.read(folder)
            target = record.target if record else ""
            tries = 1 if record and record.rate == 1 else TRIES_MAX
            return next(filter(None, (
                triage.rerun(target if target in targets else targets[0], folder)
                for _ in range(tries))), None)

        programs = []
        for folder, one in zip(folders, pool.map(rerun, folders), strict=True):
            programs += triage.learn(one)
            if one is None:
                self.gone.append(folder.name)
        return programs

    def has(self, folder: Path) -> bool:
        """Whether the finding in FOLDER belongs to the baseline."""
        return folder in self.findings
