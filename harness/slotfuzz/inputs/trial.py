"""Runs a restored script in a child, and says how it failed.

The child is forked from an interpreter that has imported torch and done nothing else, since an
import takes a second.
"""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine.kills import Kills
from slotfuzz.errors import MachineError
from slotfuzz.evidence import signature
from slotfuzz.inputs import case as cases
from slotfuzz.inputs.capture import Place, user_environment
from slotfuzz.inputs.case import Case
from slotfuzz.inputs.restore import Unrestorable
from slotfuzz.subject.subject import POISON_ENVIRONMENT
from slotfuzz.triage.verify import Forker

MODULE = "torch"
# What differs between runs and sizes: numbers, also those within words such as 4x3.
ADDRESS, NUMBER = "0x#", "#"
CHANGING = re.compile(r"\b(0x)[0-9a-fA-F]+\b|\d+(?:\.\d+)?")
RAISED = re.compile(r"^([\w.]+)(?:: (.*))?$")
TRACEBACK = "Traceback (most recent call last):"


@dataclass(frozen=True)
class Failure:
    """How a script failed: a signal, the type of an exception with its message, an exit code."""

    kind: str
    what: str = ""
    detail: str = ""

    @property
    def text(self) -> str:
        """One line for people."""
        return f"{self.kind} {self.what}" + f": {self.detail}" * bool(self.detail)

    @property
    def stated(self) -> str:
        """The regular expression that --check looks for in a run's output."""
        if self.kind == signature.SIGNAL:
            return f"^killed by {self.what}$"
        if self.kind == signature.EXCEPTION:
            words = re.escape(f": {self.detail}" if self.detail else "").replace(r"\ ", " ")
            words = words.replace(re.escape(ADDRESS), r"(?:0x\w+|0x#)")
            return f"^{re.escape(self.what)}" + re.sub(
                r"(?<!0x)\\#", r"(?:#|\\d+(?:\.\\d+)?)", words)
        return f"^exit code {self.what}$"


def normalised(message: str) -> str:
    """MESSAGE without addresses and numbers."""
    return CHANGING.sub(lambda match: ADDRESS if match[1] else NUMBER, message)


def is_lack(failure: Failure, name: str) -> bool:
    """Whether a script failed since it lacks the variable NAME; Python may add a suggestion."""
    return failure.what == "NameError" and failure.detail.startswith(
        normalised(f"name '{name}' is not defined"))


def failure_of(code: int | None, words: str) -> Failure | None:
    """How a run ended with exit CODE (None: it hung) and WORDS on stderr; None if it did not fail.
    """
    if code is None:
        return Failure(signature.HANG)
    if code == 0:
        return None
    if code < 0:
        return Failure(signature.SIGNAL, signature.signal_name(-code))
    after = words.rpartition(TRACEBACK)[2].splitlines()[1:]
    said = next((line for line in after if line and not line[0].isspace()), "")
    match = RAISED.match(said)
    if TRACEBACK in words and match:
        return Failure(signature.EXCEPTION, match[1], normalised(match[2] or ""))
    return Failure(signature.EXIT, str(code))


class Trial:
    """Runs cases, as a context, since it holds an interpreter and a folder."""

    def __init__(self, place: Place):
        self._folder = tempfile.TemporaryDirectory(prefix="slotfuzz-")
        self._forker = Forker(place.command, MODULE, {**user_environment(), **POISON_ENVIRONMENT})
        self._kills = Kills()
        self._count = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        # After an interrupt a run may go on for as long as its limit.
        (self._forker.kill if kind else self._forker.close)()
        self._folder.cleanup()

    def failure(self, case: Case) -> Failure | None:
        """How the script of CASE fails; None if it does not, or if no script makes its tensors."""
        folder = Path(self._folder.name)
        beside = repr(str(folder / cases.INPUTS))
        try:
            text = cases.text(case, beside, "")
        except Unrestorable:
            return None
        self._count += 1
        path = folder / f"trial-{self._count}.py"
        path.write_text(text)
        if beside in text:
            (folder / cases.INPUTS).write_bytes(cases.files(case)[cases.INPUTS])
        ends = self._kills.repeat(lambda: self._forker.runs(path, 1))
        for one in folder.glob(f"{path.name}*"):
            one.unlink()
        if not ends:
            raise MachineError(f"the interpreter that imports {MODULE} has died; does it work?")
        return failure_of(*ends[0])
