"""How many seeded bugs a gate catches that fuzzes a commit for a minute.

    ./slotfuzz bench gate [--mutant ID] [--seconds 60] [--seed 1]

In a clone of this checkout under the build folder, each bug becomes a separate commit, and
`ci/pr.sh HEAD~1 --only fuzz` runs on it. Seconds do not include the build of either version. First
the gate runs on the commit that all bugs start from: it must report no finding.
"""

import json
import subprocess
import tomllib
from pathlib import Path

from slotfuzz import console
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.measure.benchmark import Measured
from slotfuzz.paths import ROOT, build_root
from slotfuzz.subject import catalogue
from slotfuzz.subject.mutant import read_header

CHOSEN = Path(__file__).with_suffix(".toml")
# A file that every target includes; a comment in it does not change the targets.
HARMLESS = "core/c10/check.h"


def measure(args) -> Measured:
    """One row per mutant; fails if the gate reports a finding on the harmless commit."""
    names = args.mutants or tomllib.loads(CHOSEN.read_text())["mutants"]
    clone = _clone()
    rows = []
    for name in ["", *map(catalogue.check_mutant, names)]:
        rows.append(_row(clone, name, args))
        console.say(f"{name or 'harmless'}: {rows[-1]}")
    harmless, mutants = rows[0], rows[1:]
    caught = [row for row in mutants if row["new"]]
    seconds = sorted(row["seconds"] for row in caught)
    sentence = f"a gate of {args.seconds:.0f} s catches {len(caught)} of {len(mutants)} seeded bugs"
    if seconds:
        sentence += (f", in {seconds[len(seconds) // 2]:.0f} s (median) to {seconds[-1]:.0f} s"
                     " with the comparison")
    return Measured(rows, [sentence + f"; a harmless commit: {harmless['new']} findings"],
                    {"caught": len(caught), "mutants": len(mutants)}, bool(harmless["new"]))


def plot(measured: Measured, axes) -> None:
    """Steps: how many bugs are caught within a number of seconds."""
    seconds = sorted(row["seconds"] for row in measured.rows[1:] if row["new"])
    axes.step([0, *seconds], range(len(seconds) + 1), where="post")
    axes.set_xlabel("seconds of the gate, without builds")
    axes.set_ylabel("seeded bugs caught")


def _clone() -> Path:
    """A clone of the commit that is checked out; it is kept, with its build."""
    place = build_root().resolve() / "gate" / "clone"
    if not (place / ".git").exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        _git(ROOT, "clone", "--quiet", "--no-tags", "--no-hardlinks", str(ROOT), str(place))
    _git(place, "fetch", "--quiet", str(ROOT), "HEAD")
    return place


def _row(clone: Path, name: str, args) -> dict:
    """The result of the gate for the mutant NAME, or for a comment if NAME is empty."""
    _git(clone, "checkout", "--quiet", "--detach", "--force", "FETCH_HEAD")
    _git(clone, "clean", "--quiet", "--force", "-d")
    if name:
        patch = (ROOT / "mutants" / f"{name}.patch").read_text()
        diff = patch[patch.index("\n--- ") + 1:]
        _run(clone, ["patch", "-p1", "--silent", "--no-backup-if-mismatch"], diff)
    else:
        with open(clone / HARMLESS, "a", encoding="utf-8") as file:
            file.write("// A comment.\n")
    _git(clone, "-c", "user.name=bench", "-c", "user.email=bench", "commit", "--quiet", "--all",
         "--message", name or "a comment")
    command = ["ci/pr.sh", "HEAD~1", "--only", "fuzz", "--seconds", str(args.seconds), "--seed",
               str(args.seed or 1), "--keep-base", "--json"]
    result = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1):
        tail = "; ".join(result.stderr.strip().splitlines()[-3:])
        raise BrokenError(f"the gate on {name or 'a comment'} ended with {result.returncode}:"
                          f" {tail}")
    document = json.loads(result.stdout)
    found = (document["new"] or [{}])[0]
    programs = found.get("runs_to_find", "")
    seeds = len(list((ROOT / "corpus" / found["target"]).iterdir())) if found else 0
    spent = document["seconds"]
    return {
        "mutant": name or "(none)", "files": " ".join(document["scope"]["files"]),
        "target": read_header(name).target if name else "",
        "new": len(document["new"]), "old": len(document["old"]),
        "uncompared": len(document["uncompared"]),
        "seen again": sum(len(one["also"]) for one in document["new"]),
        "found by": " on ".join(filter(None, [found.get("target"), found.get("subject")])),
        "signature": found.get("signature", ""), "lines": found.get("lines", ""),
        "programs": programs,
        "in": ("a seed" if programs <= seeds else "fuzzing") if found else "",
        "seconds": round(spent["fuzz"] + spent["compare"], 1), "fuzz": spent["fuzz"],
        "compare": spent["compare"], "build": spent["build"]}


def _git(place: Path, *words: str) -> None:
    _run(place, ["git", *words])


def _run(place: Path, command: list[str], text: str = "") -> None:
    result = subprocess.run(command, cwd=place, input=text, capture_output=True, text=True,
                            check=False)
    if result.returncode:
        raise MachineError(f"{' '.join(command[:2])} failed: {result.stderr.strip()[-200:]}")
