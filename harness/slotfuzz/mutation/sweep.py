"""Hunts mutants of the mutated core: a fixed number of programs on each, from an empty corpus.

First one run of each hunter counts how often it reaches each site. A mutant is then hunted by the
models and the texts that reach it, and on the targets of programs that reach it most often. A
finding kills it; so does a start that fails, or a hang.
"""

import json
import struct
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from slotfuzz.engine import server
from slotfuzz.errors import BrokenError
from slotfuzz.finding import finding
from slotfuzz.mutation import oracles
from slotfuzz.mutation.compiling import PRESET
from slotfuzz.mutation.hunters import REACHED, Model, Programs, Texts
from slotfuzz.mutation.oracles import Seen
from slotfuzz.mutation.site import Site
from slotfuzz.subject import build, catalogue, registry
from slotfuzz.subject.subjects import core

SEED = 1
REACH_RUNS = 500
# Of the targets that reach a site, those that reach it most often.
TARGETS_MAX = 2
# Together these draw all themes of ops.
CALLS_TARGETS = ("objects", "meta")
TEXT_TARGET, TEXT_FILES = "meta_text", "core/meta/"
PROTOCOL_FILES = "core/c10/impl/protocol/"


@dataclass
class Outcome:
    """HOW a mutant was killed, or an empty word: by which TARGET and with which VERDICT.

    PROGRAMS are those of all targets that hunted it, and REACHED says how often which target ran
    its site.
    """

    mutant: str
    runs: int
    how: str = ""
    target: str = ""
    programs: int = 0
    verdict: str = ""
    seconds: float = 0.0
    reached: dict[str, int] = field(default_factory=dict)


class Sweep:
    """The hunters, and which of them reach which sites, whose numbers are up to NUMBER_MAX.

    REACHED is the file that keeps what was counted.
    """

    def __init__(self, number_max: int, reached: Path):
        targets, protocols = catalogue.fuzzable_targets(), catalogue.protocol_names()
        folder = build.build(PRESET, [
            *(f"target-{target}{suffix}" for target in targets for suffix in ("", "-resurrect")),
            *(f"target-{name}" for name in (*protocols, TEXT_TARGET))])
        self._programs = {
            name: [Programs(core.of_folder(name, "address", PRESET, folder / part), target)
                   for target in targets] for name, part in core.PROTOCOL_FOLDERS.items()}
        self._models = [Model(folder / "targets" / name) for name in protocols]
        self._texts = [Texts(folder / "targets" / TEXT_TARGET)]
        self._number_max, self._file = number_max, reached
        self._reached = json.loads(reached.read_text()) if reached.exists() else {}

    def hunt(self, number: int, site: Site, runs: int, seed: int = SEED) -> Outcome:
        """Hunts the mutant of SITE, for RUNS programs on each of the targets."""
        start = time.monotonic()
        quick, nearest = self._quick(number, site), self._nearest(number, site)
        outcome = Outcome(site.name, runs, reached={
            one.name: times for one in quick + self._of(site)
            if (times := self._times(one, number))})
        for hunter in quick + nearest:
            ended = hunter.run(number, runs, seed)
            outcome.programs += ended.programs
            if ended.how:
                outcome.how, outcome.verdict = ended.how, ended.verdict
                outcome.target = hunter.name
                break
        outcome.seconds = round(time.monotonic() - start, 2)
        return outcome

    def look(self, number: int, site: Site, runs: int) -> Seen:
        """The oracles that find the mutant of SITE, by the hunters of `hunt`."""
        seen, findings = Seen(site.name, runs), Counter()
        for hunter in self._quick(number, site):
            findings += oracles.look_once(hunter, number, runs, SEED)
        for hunter in self._nearest(number, site):
            programs, found = oracles.look(hunter, number, runs, SEED, self._contract_checks)
            seen.programs += programs
            findings += found
        seen.findings = dict(findings)
        return seen

    def run_calls(self, number: int, site: Site) -> Outcome:
        """Runs the texts of calls under the mutant of SITE, on the targets that have them all."""
        start = time.monotonic()
        outcome = Outcome(site.name, 0)
        for hunter in self._of(site):
            if outcome.how or hunter.target not in CALLS_TARGETS:
                continue
            ended = hunter.run_calls(number)
            outcome.programs += ended.programs
            outcome.how, outcome.verdict = ended.how, ended.verdict
            outcome.target = hunter.name if ended.how else ""
            if hits := self._times(hunter, number):
                outcome.reached[hunter.name] = hits
        outcome.seconds = round(time.monotonic() - start, 2)
        return outcome

    def _of(self, site: Site) -> list[Programs]:
        """The targets on the build whose protocol the file of SITE belongs to."""
        return self._programs[next(
            (one for one, word in core.PROTOCOL_WORDS.items() if word in site.file),
            registry.DEFAULT)]

    @cached_property
    def _contract_checks(self) -> set[str]:
        """The names of the judge's own checks, which all targets have."""
        some = self._programs[registry.DEFAULT][0]
        return {one["check"] for one in server.describe(some.subject, some.target)["checks"]}

    def _quick(self, number: int, site: Site) -> list[Model | Texts]:
        """The models and the target of texts that reach SITE."""
        quick = (self._models * site.file.startswith(PROTOCOL_FILES)
                 + self._texts * site.file.startswith(TEXT_FILES))
        return [one for one in quick if self._times(one, number)]

    def _nearest(self, number: int, site: Site) -> list[Programs]:
        """Of the targets that reach SITE, those that reach it most often."""
        reaching = [one for one in self._of(site) if self._times(one, number)]
        return sorted(reaching, key=lambda one: -self._times(one, number))[:TARGETS_MAX]

    def _times(self, hunter, number: int) -> int:
        """How often the site of that NUMBER runs in REACH_RUNS programs of a hunter."""
        if hunter.name not in self._reached:
            with tempfile.NamedTemporaryFile() as counts:
                counts.truncate(4 * (self._number_max + 1))
                ended = hunter.run(-1, REACH_RUNS, SEED, {REACHED: counts.name})
                if ended.how:
                    raise BrokenError(f"{hunter.name} without a mutant: {ended.verdict}")
                times = struct.unpack(f"{self._number_max + 1}I", Path(counts.name).read_bytes())
            self._reached[hunter.name] = {str(number): count for number, count in enumerate(times)
                                          if count}
            finding.write_file(self._file, json.dumps(self._reached))
        return self._reached[hunter.name].get(str(number), 0)
