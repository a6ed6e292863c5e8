"""Compares the findings of a gate with the base revision, and sorts them into new and old.

A finding is old if it reproduces on the base. The first new finding ends the gate.
"""

import json
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz import console
from slotfuzz.ci.checkout import Base, Checkout
from slotfuzz.errors import MachineError
from slotfuzz.finding import places
from slotfuzz.paths import shown
from slotfuzz.schema import shape
from slotfuzz.schema.record import KEYS, DedupKey
from slotfuzz.triage import dedup

# Runs on the base, for a finding that always fails here and for one that does not.
BASE_RUNS, BASE_RUNS_RARE = 5, 20


@dataclass
class Result:
    """What the gate did, and its findings: NEW ones count, OLD ones reproduce on the base.

    UNCOMPARED findings came while the gate was ending. LEFT_OUT names work that did not run, since
    a new finding ended the gate.
    """

    scripts: list[dict] = field(default_factory=list)
    corpora: list[dict] = field(default_factory=list)
    hunted: list[dict] = field(default_factory=list)
    explored: list[dict] = field(default_factory=list)
    new: list[dict] = field(default_factory=list)
    old: list[dict] = field(default_factory=list)
    uncompared: list[dict] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    trouble: str = ""

    @property
    def exit_code(self) -> int:
        """1 if a finding counts, else 2 if the machine caused trouble, else 0."""
        return 1 if self.new else 2 if self.trouble else 0


class Comparison:
    """Compares findings with BASE and adds them to RESULT; threads may call it at the same time.

    OUT is the folder for findings. A new finding sets STOPPED and calls STOP, which ends the other
    parts of the gate.
    """

    def __init__(self, out: Path, base: Base, result: Result, stopped: threading.Event,
                 stop: Callable[[], None]):
        self.seconds = 0.0
        self._out, self._base, self._result = out, base, result
        self._stopped, self._stop = stopped, stop
        self._lock = threading.Lock()
        self._compared: set[Path] = set()

    def take(self, record: dict) -> None:
        """Compares the finding of RECORD with the base, once for each folder."""
        with self._lock:
            place = Path(record["folder"])
            if place in self._compared:
                return
            self._compared.add(place)
            if self._is_seen_again(record):
                return
            if self._stopped.is_set():
                self._result.uncompared.append(record)
                return
            start = time.monotonic()
            is_old, note = self._is_old(record)
            self.seconds += time.monotonic() - start
            self._sort(record, is_old, note)

    def _is_seen_again(self, record: dict) -> bool:
        """Whether RECORD is the same bug as a new finding; adds it to that finding's `also`.

        Hunts that run at the same time on other targets and builds find one bug several times.
        """
        keys = _keys_of(record)
        first = next((one for one in self._result.new if one["signature"] == record["signature"] or
                      any(dedup.is_same(key, known) for key in keys
                          for known in _keys_of(one))), None)
        if not first:
            return False
        first["also"].append(f"{record['target']} on {record['subject']}: {record['signature']}")
        folder = Path(record["folder"])
        if folder.parent.resolve() == self._out.resolve():
            shutil.rmtree(folder)
        return True

    def sort(self, record: dict, is_old: bool, note: str) -> None:
        """Adds RECORD with NOTE to the result, for a finding that the caller has compared."""
        with self._lock:
            self._sort(record, is_old, note)

    def _sort(self, record: dict, is_old: bool, note: str) -> None:
        record = {**record, "note": note, "also": []}
        (self._result.old if is_old else self._result.new).append(record)
        console.say(f"{'old' if is_old else 'NEW'}: {record['signature']}: "
                    f"{shown(Path(record['folder']))}{'; ' * bool(note)}{note}")
        if not is_old:
            self._stopped.set()
            self._stop()

    def _is_old(self, record: dict) -> tuple[bool, str]:
        """Whether a finding reproduces on the base, and a note on that for the user."""
        script = Path(record["folder"]) / "repro.py"
        if not script.exists():
            return False, "nothing repeats it alone, so it cannot be tried on the base"
        base = self._base.checkout()
        meant = ("--subject", record["subject"], "--sanitizer", record["sanitizer"])
        runs = BASE_RUNS if record["rate"] == 1 else BASE_RUNS_RARE
        code, out, _ = base.run("replay", script, *meant, "--target", record["target"], "--times",
                                runs, "--json")
        rows = _rows(out) if code in (0, 1) else []
        # If the base lacks an op, it would skip that line and run the others.
        if not rows or rows[0]["lines"] != record["lines"]:
            return self._fails_as_a_script(base, script, record, runs)
        (row,) = rows
        if not row["findings"]:
            return False, f"0 of {runs} runs fail on the base"
        # A base from before the field is compared by the whole signature.
        field = "verdict" if "verdict" in row else "signature"
        if row[field] == record[field]:
            return True, f"{row['findings']} of {runs} runs fail on the base"
        return False, f"on the base it fails differently: {row['signature']}"

    def _fails_as_a_script(self, base: Checkout, script: Path, record: dict, runs: int):
        """Tries the script itself, which runs even if the base lacks the target or an op."""
        code, out, err = base.run("python", "--subject", record["subject"], "--sanitizer",
                                  record["sanitizer"], script, "--check", runs)
        if code not in (0, 1):
            tail = (err.strip().splitlines() or ["no message"])[-1]
            raise MachineError(f"cannot try {shown(script)} on the base: {tail}")
        result = (out.strip().splitlines() or ["no output"])[0]
        return code == 1, f"as a script on the base: {result}"

    def put_aside(self) -> None:
        """Moves the folders of old and uncompared findings to folders of their own in OUT."""
        self._put_aside(self._result.old, places.OLD_FOLDER)
        self._put_aside(self._result.uncompared, places.UNCOMPARED_FOLDER)

    def _put_aside(self, records: list[dict], name: str) -> None:
        """Moves folders of RECORDS that are in OUT to OUT/NAME/."""
        for record in records:
            folder = Path(record["folder"])
            if folder.parent.resolve() == self._out.resolve() and folder.is_dir():
                place = self._out / name / folder.name
                shutil.rmtree(place, ignore_errors=True)
                place.parent.mkdir(exist_ok=True)
                shutil.move(folder, place)
                record["folder"] = str(place)


def _keys_of(record: dict) -> list[DedupKey]:
    """The dedup keys in the document RECORD of a hunt."""
    return [shape.made(DedupKey, key) for key in record.get(KEYS, [])]


def _rows(out: str) -> list[dict]:
    """The document of `replay --json`; empty if OUT is not JSON."""
    try:
        return json.loads(out)
    except ValueError:
        return []
