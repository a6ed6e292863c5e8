"""A sample of mutants that rules make, and results of it: lines of JSON that a later run reads."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from slotfuzz import console
from slotfuzz.mutation import compiling, mutated
from slotfuzz.mutation.sweep import Sweep
from slotfuzz.paths import ROOT, build_root

SEED = 1
SAID_EVERY = 25
# What decides whether a mutant is found.
HUNTERS = ("core", "harness/engine", "ops", "targets/programs")


class Results:
    """Results of the dataclass KIND, which has a field `mutant`: the name of a site.

    The file's NAME distinguishes it from the files of other benchmarks.
    """

    def __init__(self, kind: type, name: str):
        self.made = mutated.make()
        self.path = build_root() / compiling.PRESET / f"{name}-{_mark()}.jsonl"
        self._kind = kind

    def of(self, sample: int, seed: int, is_enough: Callable, hunt: Callable) -> list:
        """The results for SAMPLE mutants, which SEED chooses; a larger sample has the smaller one.

        Of the file's results those are taken that are IS_ENOUGH. For each other mutant, HUNT gets
        the sweep, its number and its site, and returns the result.
        """
        numbers = {site.name: number for number, site in self.made.sites.items()}
        chosen = sorted(numbers, key=lambda name: _hash(f"{seed} {name}".encode()))[:sample]
        known = {one.mutant: one for one in self._read() if is_enough(one)}
        waiting = [name for name in chosen if name not in known]
        if waiting:
            sweep = self._sweep()
            with self.path.open("a") as file:
                for done, name in enumerate(waiting, 1):
                    known[name] = hunt(sweep, numbers[name], self.made.sites[numbers[name]])
                    file.write(json.dumps(asdict(known[name])) + "\n")
                    file.flush()
                    if done % SAID_EVERY == 0:
                        console.say(f"{done} of {len(waiting)} mutants")
        return [known[name] for name in chosen]

    def _sweep(self) -> Sweep:
        name = f"reached-{_mark()}-{mutated.rules_mark()[:8]}.json"
        return Sweep(max(self.made.sites), build_root() / compiling.PRESET / name)

    def _read(self) -> list:
        """What earlier runs have written; the last line may be cut off."""
        if not self.path.exists():
            return []
        lines = self.path.read_text().split("\n")
        return [self._kind(**json.loads(line)) for line in lines[:-1] if line.endswith("}")]


def _mark() -> str:
    """Stands for the core and for what hunts."""
    files = sorted(path for folder in HUNTERS for path in (ROOT / folder).rglob("*")
                   if path.is_file())
    return _hash(b"".join(path.read_bytes() for path in files))[:8]


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
