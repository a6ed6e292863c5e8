"""The mutation score: of the mutants that rules make of the core, how many does a hunt find?

    ./slotfuzz bench mutation [--sample 150] [--runs 1000] [--seed 1]

Each mutant is hunted for --runs programs on each of the targets that reach it most, from an empty
corpus. --seed chooses the sample; a larger one has the smaller one in it. The results are kept as
lines of JSON in the build folder, and an interrupted run continues where it ended. Debian's
python3-clang finds the sites. See docs/detection.md.
"""

import hashlib
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from slotfuzz import console
from slotfuzz.measure.benchmark import Measured
from slotfuzz.mutation import classes, compiling, mutated
from slotfuzz.mutation.sweep import Outcome, Sweep
from slotfuzz.paths import ROOT, build_root, shown

SAMPLE, RUNS, SEED = 150, 1000, 1
SAID_EVERY = 25
# What decides whether a mutant is found.
HUNTERS = ("core", "harness/engine", "ops", "targets/programs")


def measure(args) -> Measured:
    """A row for each rule and one for each folder of the core."""
    made = mutated.make()
    by_name = {site.name: number for number, site in made.sites.items()}
    order = sorted(by_name, key=lambda name: _hash(f"{args.seed or SEED} {name}".encode()))
    chosen, runs = order[:args.sample or SAMPLE], RUNS if args.runs is None else args.runs
    kept = build_root() / compiling.PRESET
    path = kept / f"results-{_mark()}{'' if runs else '-calls'}.jsonl"
    known = {one.mutant: one for one in _read(path) if one.how or one.runs >= runs}
    if waiting := [name for name in chosen if name not in known]:
        sweep = Sweep(max(made.sites), kept / f"reached-{_mark()}-{mutated.rules_mark()[:8]}.json")
        with path.open("a") as file:
            for done, name in enumerate(waiting, 1):
                number = by_name[name]
                outcome = (sweep.hunt(number, made.sites[number], runs) if runs
                           else sweep.run_calls(number, made.sites[number]))
                file.write(json.dumps(asdict(outcome)) + "\n")
                file.flush()
                known[name] = outcome
                if done % SAID_EVERY == 0:
                    killed = sum(bool(known[one].how) for one in chosen if one in known)
                    console.say(f"{done} of {len(waiting)} mutants; {killed} killed")
    outcomes = [known[name] for name in chosen]
    survivors = classes.read()
    rows = _rows(outcomes, survivors)
    return Measured(rows, _sentences(outcomes, survivors, made, path), rows[0])


def _rows(outcomes: list[Outcome], survivors: dict) -> list[dict]:
    groups: dict[tuple[str, str], list[Outcome]] = {("all", ""): outcomes}
    for one in outcomes:
        file, _, rest = one.mutant.partition(":")
        rule = rest.rpartition(":")[0].rpartition(":")[2]
        for key in (("rule", rule), ("folder", str(Path(file).parent))):
            groups.setdefault(key, []).append(one)
    return [{"by": by, "of": of} | classes.count(groups[by, of], survivors)
            for by, of in sorted(groups, key=lambda key: ("all", "rule", "folder").index(key[0]))]


def _sentences(outcomes, survivors, made, path) -> list[str]:
    verdicts = Counter(one.verdict for one in outcomes if one.how)
    total = classes.count(outcomes, survivors)
    left_out = ", ".join(f"{count} {why}" for why, count in made.left_out.items())
    return [
        f"{len(made.sites):,} mutants; left out: {left_out}",
        f"score {total['score']} % of {len(outcomes):,}: {total['killed']:,} killed,"
        f" {total['start']} of them when a process starts; {total['unreached']} not reached,"
        f" {total['survived']} survived, {total['equivalent']} equivalent",
        "killed by: " + ", ".join(f"{verdict} {count}" for verdict, count in
                                  verdicts.most_common()),
        f"each outcome is a line of {shown(path)}"]


def plot(measured: Measured, axes) -> None:
    """A bar for each rule and folder."""
    axes.barh([f"{row['by']} {row['of']}" for row in measured.rows],
              [row["score"] for row in measured.rows])
    axes.set_xlabel("score in %")


def _read(path: Path) -> list[Outcome]:
    """The outcomes that earlier runs have written; the last line may be cut off."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    return [Outcome(**json.loads(line)) for line in lines[:-1] if line.endswith("}")]


def _mark() -> str:
    """Stands for the core and for what hunts."""
    files = sorted(path for folder in HUNTERS for path in (ROOT / folder).rglob("*")
                   if path.is_file())
    return _hash(b"".join(path.read_bytes() for path in files))[:8]


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
