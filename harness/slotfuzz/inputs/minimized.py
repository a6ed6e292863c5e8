"""The folder of a minimized case: repro.py with --check, the case itself, and NOTES.md."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine import kills
from slotfuzz.errors import UserError
from slotfuzz.finding import emit
from slotfuzz.finding.finding import NOTES
from slotfuzz.inputs import case as cases, minimize, notes
from slotfuzz.inputs.capture import Place, user_environment
from slotfuzz.inputs.case import Case
from slotfuzz.inputs.minimize import MinimizedCase
from slotfuzz.inputs.trial import Failure, Trial, failure_of, is_lack
from slotfuzz.subject.subject import POISON_ENVIRONMENT

SCRIPT = "repro.py"
BESIDE = f'os.path.join(os.path.dirname(os.path.abspath(__file__)), "{cases.INPUTS}")'
FRESH_RUNS = 5
FRESH_SECONDS = 120


@dataclass(frozen=True)
class Written:
    """A minimized case, how it fails, and in how many of FRESH_RUNS new processes it did."""

    result: MinimizedCase
    failure: Failure
    failed: int


def reduce(case: Case, trial: Trial) -> tuple[MinimizedCase, Failure]:
    """The smallest case that fails like CASE; UserError if CASE does not fail, or only for lack of
    a variable."""
    cases.text(case, "''", "")  # what no script makes is an error with its name
    pinned = trial.failure(case)
    missing = ", ".join(f"`{name}`" for name in case.missing)
    words = f"; its lines read {missing}, which no case keeps" * bool(missing)
    if pinned is None:
        raise UserError(f"the restored case does not fail: nothing to minimize{words}")
    if any(is_lack(pinned, name) for name in case.missing):
        raise UserError(f"the restored case fails with {pinned.text}, as the script did not{words}")
    return minimize.minimize(case, lambda one: trial.failure(one) == pinned), pinned


def write(folder: Path, before: Case, place: Place, result: MinimizedCase,
          failure: Failure) -> Written:
    """Fills FOLDER, which is empty, and runs the script in new processes.

    Then no other file is there, unless the script says that it reads one.
    """
    case, files = result.case, cases.files(result.case)
    check = emit.check_block(failure.stated, POISON_ENVIRONMENT.items())
    title = f"{failure.text}\n{cases.title(case)}\nrun: python3 {SCRIPT}    (or: --check 20)"
    text = cases.text(case, BESIDE, title, check)
    (folder / SCRIPT).write_text(text)
    if BESIDE in text:
        (folder / cases.INPUTS).write_bytes(files[cases.INPUTS])
    failed = sum(fresh_failure(folder / SCRIPT, place) == failure for _ in range(FRESH_RUNS))
    rate = f"{failed} of {FRESH_RUNS} fresh processes fail"
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / NOTES).write_text(notes.notes(result, before, failure.text, rate))
    return Written(result, failure, failed)


def fresh_failure(script: Path, place: Place) -> Failure | None:
    """How SCRIPT fails in a new process; None if it does not."""
    try:
        ended = kills.run(SCRIPT, [*place.command, str(script)], capture_output=True,
                          timeout=FRESH_SECONDS,
                          env={**user_environment(), **POISON_ENVIRONMENT})
    except subprocess.TimeoutExpired:
        return failure_of(None, "")
    return failure_of(ended.returncode, ended.stderr.decode(errors="replace"))
