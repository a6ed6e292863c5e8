"""Runs each script of repro/torch-* in the PyTorch of each tree, and writes `fails_in`.

It also runs the scripts that a person has written for issue.md, and writes these files. A script
runs there as it is: its failure counts if it is what the script states, or a related one of another
release: see `counts`. The release of the finding itself must fail.
"""

import os
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from slotfuzz import cli, report
from slotfuzz.finding import emit, failure, finding
from slotfuzz.paths import ROOT
from slotfuzz.progress import ProgressLine
from slotfuzz.report import Entry, issue
from slotfuzz.report.markdown import version_key
from slotfuzz.subject import interpreter, registry, rootfs
from slotfuzz.triage import verify
from slotfuzz.triage.draft import normal_line

NAME = "ci/torch_releases.sh"
EXAMPLE = "ci/torch_releases.sh build/rootfs-bookworm build/rootfs-trixie build/rootfs-sid"
MODULE = "torch"
RUNS = 5
INTERNAL = "INTERNAL ASSERT FAILED"
TRACEBACK = "Traceback (most recent call last):"


def add_arguments(parser) -> None:
    """The trees."""
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE",
                        help="a tree made by ci/torch_rootfs.sh that has torch")
    parser.add_argument("--repro", type=Path, default=ROOT / "repro", metavar="DIR",
                        help="the findings; repro/ by default")
    parser.add_argument("--only-issues", action="store_true",
                        help="run only the scripts that a person has written for issue.md")
    parser.add_argument("--only", default="", metavar="WORD",
                        help="run only findings whose id has WORD in it")


def run(args, output) -> int:
    """Runs all scripts and writes the results; 1 if a finding does not fail in its own release."""
    kept = [entry for entry in report.collect(args.repro.resolve()).entries if entry.release]
    entries = [entry for entry in kept if args.only in entry.record.id]
    rows = {entry.folder: dict(entry.record.fails_in) for entry in entries}
    ends = {entry.folder: dict(entry.record.user_ends) for entry in entries}
    for tree in map(rootfs.check, args.trees):
        release = release_in(tree, kept)
        for folder, fails in ({} if args.only_issues else failing(tree, entries)).items():
            rows[folder][release] = fails
        for entry in entries:
            if entry.record.user_script:
                ends[entry.folder][release] = user_end(tree, entry.record.user_script)
    gone = [entry.record.id for entry in entries if not rows[entry.folder].get(entry.release)]
    for entry in entries:
        record = replace(entry.record, fails_in=by_release(rows[entry.folder]),
                         user_ends=by_release(ends[entry.folder]))
        finding.write_file(entry.folder / "finding.json", record.text())
        if words := issue.text(replace(entry, record=record)):
            finding.write_file(entry.folder / issue.NAME, words)
    output.text("\n".join([f"{len(entries)} scripts ran in {len(args.trees)} releases",
                           *(f"no failure in its own release: {name}" for name in gone)]))
    output.document({"fails_in": {folder.name: row for folder, row in rows.items()},
                     "gone": gone})
    return 1 if gone else 0


def by_release(row: dict) -> dict:
    """ROW, by release, oldest first."""
    return dict(sorted(row.items(), key=lambda one: version_key(one[0])))


def user_end(tree: Path, script: str) -> str:
    """How SCRIPT, as a user writes it, ends in TREE: its error, or the signal."""
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as place:
        path = Path(place) / "script.py"
        path.write_text(script)
        command = [*rootfs.entering(tree), interpreter.SYSTEM_PYTHON, str(path)]
        code, said = verify.fresh_run(command, user_environment())
    if code is None:
        return "no end"
    how = failure.ending(code).replace("exit code 0", "no error")
    return normal_line(error_in(said.strip())) if how == "exit code 1" and said else how


def error_in(said: str) -> str:
    """The line of SAID that names the exception: the message may have more lines. Else the last."""
    lines = said.splitlines()
    after = said.rpartition(TRACEBACK)[2].splitlines()[1:] if TRACEBACK in said else []
    return next((line for line in after if line[:1].strip()), lines[-1])


def release_in(tree: Path, entries: list[Entry]) -> str:
    """The release of the PyTorch in TREE, as the folders of its findings in ENTRIES name it."""
    said = interpreter.ask(interpreter.SYSTEM_PYTHON, tree,
                           f"import {MODULE}; print({MODULE}.__version__)", f"lacks {MODULE}")
    version = registry.release_in(MODULE, {MODULE: said.strip()})
    named = {registry.release_in(MODULE, entry.record.versions): entry.release
             for entry in entries}
    return named.get(version, version)


def failing(tree: Path, entries: list[Entry]) -> dict[Path, bool]:
    """Whether the script of each of ENTRIES fails in TREE, by folder."""
    line, found = ProgressLine(), {}
    forkers: dict[tuple, verify.Forker] = {}
    command = [*rootfs.entering(tree), interpreter.SYSTEM_PYTHON]
    try:
        with tempfile.TemporaryDirectory(prefix="slotfuzz-") as place:
            for number, entry in enumerate(entries):
                line.show(f"{tree.name}: {number} of {len(entries)}, {entry.record.id}")
                needs = tuple(entry.record.environment.items())
                environment = {**user_environment(), **entry.record.environment}
                if needs not in forkers:
                    forkers[needs] = verify.Forker(command, MODULE, environment)
                path = Path(place) / "repro.py"
                path.write_text(entry.script)
                stated = emit.read_stated(entry.script)
                # A fork has another heap than an interpreter that runs nothing but the script.
                found[entry.folder] = (
                    any(counts(stated, *end) for end in forkers[needs].runs(path, RUNS)) or
                    counts(stated, *verify.fresh_run([*command, str(path)], environment)))
    finally:
        line.close()
        for forker in forkers.values():
            forker.close()
    return found


def user_environment() -> dict[str, str]:
    """The environment of a user who runs a script."""
    return {name: value for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "PYTHONHOME")}


def counts(stated: str, code: int | None, text: str) -> bool:
    """Whether a run that ended with CODE and printed TEXT has the failure that STATED matches.

    An internal assertion of another release may have other words, and a failure of one release may
    be a crash in another one. An exception that names no internal assertion is no failure, since a
    release may lack what a line calls.
    """
    if verify.fails_as(stated, code, text):
        return True
    if code and failure.ending(code).rpartition(" ")[2] in failure.DEADLY:
        return True
    return bool(code) and re.escape(INTERNAL).replace("\\ ", " ") in stated and INTERNAL in text


if __name__ == "__main__":
    sys.exit(cli.script(NAME, sys.modules[__name__], sys.argv[1:]))
