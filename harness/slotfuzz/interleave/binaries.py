"""The protocols' binaries: how to build and run them, and the JSON of a failure.

A binary prints one JSON document per call; its flags are in harness/interleave/command/entry.h.
The model needs no sanitizer; the other engines run under ThreadSanitizer.
"""

import json
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine import kills
from slotfuzz.engine.kills import Kills
from slotfuzz.errors import BrokenError, MachineError, UserError, nearest
from slotfuzz.subject import build, catalogue, mutant, registry

ENGINES = ("model", "fibres", "threads", "yields")
REPLAYABLE = ("model", "fibres")
# The largest golden scenarios that take a second; `counts` with 4 threads takes minutes.
DEFAULT_THREADS = {"claim": 7, "disarm": 5, "counts": 3, "ending": 4, "accumulator": 3,
                   "gradient": 2, "saved": 4, "ready_queue": 5, "completion": 5, "context": 3}
GRACE_SECONDS = 60
REPLAYS = 100
TAIL_LINES = 12


@dataclass(frozen=True)
class Scenario:
    """A protocol's thread programs from a start SHAPE, or the golden programs of THREADS."""

    protocol: str
    shape: str = ""
    programs: str = ""
    threads: int | None = None

    def flags(self) -> list[str]:
        """The binary's flags for this scenario."""
        flags = [f"--shape={self.shape}"] if self.shape else []
        if self.programs:
            flags.append(f"--programs={self.programs}")
        if self.threads is not None:
            flags.append(f"--threads={self.threads}")
        return flags


def check_protocol(name: str) -> str:
    """NAME, or UserError that names the nearest."""
    if name not in catalogue.protocol_names():
        raise UserError(f"no model {name!r}; {nearest(name, catalogue.protocol_names())}")
    return name


def mutant_engines(name: str) -> list[str]:
    """The engines that must catch mutant NAME, by its header's line `engine:`."""
    engines = mutant.read_header(name).engines
    if not engines or not set(engines) <= set(ENGINES):
        raise BrokenError(f"the header of {name}.patch names no engine of {', '.join(ENGINES)}")
    return list(engines)


def mutant_scenario(name: str) -> Scenario:
    """The scenario that finds mutant NAME: its header's `SHAPE: OPS;OPS` or `golden N`."""
    header = mutant.read_header(name)
    text = header.program[0].strip()
    golden = re.fullmatch(r"golden (\d+)", text)
    if golden:
        return Scenario(header.target, threads=int(golden[1]))
    shape, _, programs = (part.strip() for part in text.partition(":"))
    if not programs:
        raise BrokenError(f"the header of {name}.patch: no program `SHAPE: OPS;OPS` in {text!r}")
    return Scenario(header.target, shape, programs)


def mutant_of(chosen: str) -> str:
    """The mutant's id in a subject, or an empty string for the core; UserError for others."""
    registry.find_interleaved(chosen)
    _, colon, name = chosen.partition(":")
    known = catalogue.protocol_mutant_names()
    if colon and name not in known:
        raise UserError(f"no mutant {name!r} of a protocol; {nearest(name, known)}")
    return name


def preset_of(engine: str) -> str:
    """The build that ENGINE runs in."""
    return "plain" if engine == "model" else "thread"


def binary(protocol: str, chosen: str, engine: str) -> Path:
    """The target of PROTOCOL on subject CHOSEN, built for ENGINE."""
    name = mutant_of(chosen)
    preset = preset_of(engine)
    if not name:
        return build.build(preset, [f"target-{protocol}"]) / "targets" / protocol
    return build.build_mutant(preset, name, [protocol]) / "targets" / protocol


def engine_of_schedule(text: str) -> str:
    """The engine that a schedule's second byte names; `model` if the byte is invalid."""
    return "fibres" if text[2:4] == "02" else "model"


def ask(program: Path, flags: list[str], seconds: float | None = None) -> dict:
    """Runs a binary; returns its document. A crash or hang is a failure without a schedule."""
    command = [str(program), *flags]
    limit = None if seconds is None else seconds + GRACE_SECONDS
    try:
        result = Kills().repeat(lambda: kills.run(
            str(program), command, capture_output=True, text=True, errors="replace",
            timeout=limit))
    except subprocess.TimeoutExpired:
        return _died("hang", f"no end after {limit:.0f} s", "")
    except OSError as error:
        raise MachineError(f"{program} does not start: {error.strerror}") from error
    if result.returncode == 2:
        raise UserError(result.stderr.strip().removeprefix("slotfuzz: "))
    if result.returncode == 3:
        raise BrokenError(result.stderr.strip())
    if result.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    lines = result.stdout.strip().splitlines()
    try:
        document = json.loads(lines[-1])
    except (IndexError, ValueError):
        return _died("crash", f"the process ended with {result.returncode}", result.stderr)
    if document.get("failure"):
        document["failure"]["report"] = _report(result.stderr)
    return document


def replay_rate(program: Path, schedule: str, times: int) -> dict:
    """Replays a schedule; the document has `failures` and `times`."""
    return ask(program, [f"--schedule={schedule}", f"--times={times}"])


def _died(kind: str, message: str, report: str) -> dict:
    return {"verdict": "failed", "executions": 0, "graphs": None, "seconds": 0, "bound": None,
            "failure": {"kind": kind, "contract": "", "message": message, "table": [],
                        "report": _report(report)}}


def _report(text: str) -> str:
    """The sanitizer's last report, which belongs to the smallest schedule."""
    start = text.rfind("WARNING: ThreadSanitizer")
    if start < 0:
        return "\n".join(text.splitlines()[-TAIL_LINES:])
    end = text.find("\n====", start)
    return text[start:end if end > 0 else None].strip()
