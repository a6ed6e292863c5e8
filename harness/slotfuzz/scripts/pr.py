"""The gate before a merge: replays scripts and corpora, then fuzzes what differs from BASE.

Replays repro/ and the corpora under address, thread and debug CPython. Then fuzzes the targets
whose ops or core files differ from the git revision BASE, and explores protocols whose code
differs. A finding counts only if it does not reproduce on BASE; other findings are listed as old.
Exit codes: 0 clean, 1 a finding that counts, 2 usage or machine, 3 the harness is broken.
"""

import sys
import time
from pathlib import Path

from slotfuzz import cli, console, report
from slotfuzz.ci import gate, gate_scope
from slotfuzz.ci.checkout import Base, Checkout
from slotfuzz.engine import server
from slotfuzz.errors import UserError
from slotfuzz.finding import places
from slotfuzz.paths import ROOT, build_root, shown
from slotfuzz.report import annotate, exports
from slotfuzz.schema.record import Finding
from slotfuzz.subject import catalogue, subject

NAME = "ci/pr.sh"
EXAMPLE = "ci/pr.sh main --seconds 60 --seed 1"
SECONDS = 60.0


def add_arguments(parser) -> None:
    """The options of the gate."""
    parser.add_argument("base", metavar="BASE", help="a git revision, such as main")
    parser.add_argument("--seconds", type=float, default=SECONDS,
                        help="fuzzing time, split over targets and protocols; 60 by default")
    parser.add_argument("--seed", type=int, default=1, help="1 by default")
    parser.add_argument("--sanitizer", choices=gate.REPLAYED_UNDER, default="address",
                        help="sanitizer for fuzzing; address by default")
    parser.add_argument("--only", choices=gate.PARTS, help="run one part; all three by default")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="folder for findings, emptied first; build/gate/out by default")
    parser.add_argument("--sarif", type=Path, metavar="FILE", help="write the findings there, too")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the findings there, too")
    parser.add_argument("--keep-base", action="store_true",
                        help="keep the checkout and build of BASE for the next gate")


def run(args, output) -> int:
    """Runs the gate; 1 if a finding counts."""
    if args.seconds <= 0 or args.seed <= 0:
        raise UserError("--seconds and --seed must be more than 0")
    commit = gate_scope.commit_of(args.base)
    changed = gate_scope.changed_files(commit)
    ops = gate_scope.changed_ops(commit)
    scope = gate_scope.of_change(changed, lambda: _drawing(ops))
    out = (args.out or build_root() / "gate" / "out").resolve()
    gate.empty(out)
    parts = (args.only,) if args.only else gate.PARTS
    plan = gate.Plan(scope, out, args.seconds, args.seed, args.sanitizer, parts)
    console.say(_said(scope, changed, args.base))
    start = time.monotonic()
    _build(plan)
    built = round(time.monotonic() - start, 1)
    with Base(commit, args.keep_base) as base:
        result = gate.Gate(plan, Checkout(ROOT), base).run()
    result.seconds["build"] = built
    exports.write(report.collect(out), args.sarif, args.junit, tuple(
        _found(record) for record in result.new if not Path(record["folder"]).is_dir()))
    annotate.say([_found(record) for record in result.new])
    output.text(summary(plan, result, args.base))
    output.document({
        "base": args.base, "commit": commit, "seed": args.seed, "out": shown(out),
        "scope": vars(scope), **vars(result), "exit_code": result.exit_code})
    return result.exit_code


def _found(record: dict) -> places.Found:
    """The place of a finding: its folder, or for a schedule its C++ program."""
    place = Path(record["folder"])
    if place.is_dir():
        return places.read(place)
    return places.Found(place.parent, _of_schedule(record), record["signature"],
                        (record["text"],), "", (),
                        places.Place(str(place), 1, "the schedule as a C++ program"))


def _of_schedule(record: dict) -> Finding:
    """The record of a failing schedule, which is one replayed input and not a program."""
    return Finding(
        **{name: record[name] for name in (
            "id", "signature", "subject", "sanitizer", "target", "oracle", "rate")},
        kind=record["signature"], contract="", lines=1, runs_to_find=0, seconds_to_find=0,
        rate_low=0, seed=0, versions={}, minimize_runs=0, minimize_seconds=0, one_minimal=False)


def _build(plan: gate.Plan) -> None:
    """Builds all that the gate will run, so that its seconds measure running only."""
    if "replay" in plan.parts:
        for sanitizer in gate.REPLAYED_UNDER:
            for name in gate.replayed_subjects(plan.scope):
                subject.resolve(name, sanitizer, catalogue.fuzzable_targets())
    if "fuzz" in plan.parts and plan.scope.targets:
        for name in plan.scope.subjects:
            subject.resolve(name, plan.sanitizer, plan.scope.targets)


def _drawing(ops: set[str]) -> list[str]:
    """The targets whose programs can contain one of OPS on the core."""
    found = []
    for target in catalogue.fuzzable_targets() if ops else []:
        chosen = subject.resolve("core", None, [target], with_python=False)
        if any(op["name"] in ops and not op["masked"]
               for op in server.describe(chosen, target)["ops"]):
            found.append(target)
    return found


def _said(scope: gate_scope.Scope, changed: list[str], base: str) -> str:
    """One line that says what will be fuzzed, and why."""
    if scope.is_empty:
        return (f"{len(changed)} files differ from {base}, but they are not part of a target:"
                " nothing will be fuzzed")
    files = ", ".join(scope.files[:5]) + (f" and {len(scope.files) - 5} more"
                                          if len(scope.files) > 5 else "")
    parts = [f"{', '.join(scope.targets)} on {' and '.join(scope.subjects)}"] * bool(scope.targets)
    parts += [f"protocols {', '.join(scope.protocols)}"] * bool(scope.protocols)
    return f"{files} differ from {base}: fuzzing {'; '.join(parts)}"


def summary(plan: gate.Plan, result: gate.Result, base: str) -> str:
    """The text output."""
    seconds = result.seconds
    scripts = sum(row["scripts"] for row in result.scripts)
    files = sum(row["files"] for row in result.corpora)
    lines = [f"left out by --only: {part}" for part in gate.PARTS if part not in plan.parts]
    if "replay" in plan.parts:
        lines.append(f"replayed: {scripts} scripts and {files} corpus files, counted once for each"
                     f" sanitizer and subject, in {seconds['replay']:.0f} s")
    lines += [f"explored {row['protocol']}: {row['executions']} executions, {row['verdict']}"
              for row in result.explored]
    lines += [f"fuzzed {row['target']} on {row['subject']} under {row['sanitizer']}:"
              f" {row['programs']:,} programs in {row['seconds']:.1f} s" for row in result.hunted]
    if not result.hunted and not result.explored:
        lines.append("nothing was fuzzed: " + (
            f"no file that differs from {base} is part of a target" if plan.scope.is_empty
            else "a finding came first"))
    if result.left_out:
        lines.append(f"left out, since a finding came first: {len(result.left_out)} parts, from"
                     f" '{result.left_out[0]}' to '{result.left_out[-1]}'")
    for word, records in (("old", result.old), ("NEW", result.new)):
        for record in records:
            lines += [f"{word}: {record['signature']}",
                      f"  {shown(Path(record['folder']))}: {record['note']}",
                      *(f"    {line}" for line in record.get("text", "").splitlines()),
                      *(f"  seen again by {words}" for words in record["also"])]
    lines += [f"found while the gate was ending, and not compared with {base}: "
              f"{shown(Path(record['folder']))}" for record in result.uncompared]
    lines += [result.trouble] * bool(result.trouble)
    lines.append(f"findings: {len(result.new)} new, {len(result.old)} old, which reproduce"
                 f" on {base}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cli.script(NAME, sys.modules[__name__], sys.argv[1:]))
