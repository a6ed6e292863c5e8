"""Fuzzes, recognizes known findings, minimizes and verifies new ones, writes repro/<id>/.

Targets: by default all but the canary, or the target in the mutant's header. Two hunts do the same
if they have the same --seed and --runs and start with the same --corpus.
"""

from collections import Counter
from pathlib import Path

from slotfuzz import console, options
from slotfuzz.engine import server
from slotfuzz.errors import UserError
from slotfuzz.finding import places
from slotfuzz.hunt import baseline, first_calls, hunt, series
from slotfuzz.hunt.plan import Plan, Result, check_folders
from slotfuzz.paths import findings_root, shown
from slotfuzz.report import annotate
from slotfuzz.subject import catalogue, registry, subject, tested, tools
from slotfuzz.triage.judged import Judged

EXAMPLE = "./slotfuzz hunt --subject mutant:hermetic-del-storage --stop-at-first --out found"
ELSEWHERE_SECONDS_MIN = 0.1
FUNCTION_TARGET = "autograd"


def add_arguments(parser) -> None:
    """The options of hunt."""
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options.add_subject(parser)
    parser.add_argument("--seconds", type=_positive(float), default=60.0, help="60 by default")
    parser.add_argument("--runs", type=_positive(int), help="programs per target and job")
    parser.add_argument("--seed", type=_positive(int), help="random by default, and printed")
    parser.add_argument("--jobs", type=_positive(int), default=1, help="processes per target")
    parser.add_argument("--corpus", type=Path, metavar="DIR",
                        help="build/corpus/<subject>/<target> by default, with corpus/<target>")
    parser.add_argument("--out", type=Path, metavar="DIR", default=findings_root(),
                        help="folder for findings; by default repro/ of the checkout, or ./repro"
                             " if that is read-only or slotfuzz is installed")
    parser.add_argument("--baseline", type=Path, metavar="DIR",
                        help="findings in DIR, at any depth, are old and do not fail the hunt;"
                             " all other findings do, including those in repro/")
    parser.add_argument("--function", metavar="FILE.py:NAME",
                        help="test this torch.autograd.Function, or this callable that takes one"
                             " to three tensors; docs/autograd.md")
    parser.add_argument("--stop-at-first", action="store_true",
                        help="end after the first new finding")


def run(args, output) -> int:
    """Hunts; 1 if there is a finding that is not old."""
    name = args.subject or registry.DEFAULT
    function = tested.read(args.function) if args.function else None
    targets = list(dict.fromkeys(args.targets)) or _default_targets(name, function)
    if args.corpus is not None and len(targets) > 1:
        raise UserError("--corpus is for one target; name it: hunt TARGET --corpus DIR")
    old = baseline.Baseline(args.baseline) if args.baseline else None
    if old:
        old.check_apart(args.out)
    check_folders(args.out, args.corpus)
    chosen = subject.resolve(name, args.sanitizer, targets, args.python, tree=options.tree(args),
                             function=function)
    if function:
        for target in targets:
            _call_once(chosen, target)
    elif not args.targets:
        targets = _with_special_ops(chosen, targets)
    for reason in tools.blindness() if chosen.watch.can_be_blind else []:
        console.say(f"ThreadSanitizer may not work here: {reason}")
    plan = Plan(
        subject=chosen, targets=targets, out=args.out, seconds=args.seconds, runs=args.runs,
        seed=args.seed or _drawn_seed(), jobs=args.jobs, corpus=args.corpus, baseline=old,
        stop_when=(lambda judged: True) if args.stop_at_first else None, resumes=True)
    result = hunt.run(plan)
    annotate.say([places.read(folder) for folder in dict.fromkeys(
        judged.folder for judged in [*result.new, *result.known, *result.unreproduced])])
    output.text(summary(plan, result))
    output.document(document(plan, result))
    return result.exit_code


def summary(plan: Plan, result: Result) -> str:
    """The text output."""
    rate = f" ({result.programs / result.fuzz_seconds:,.0f}/s)" if result.programs else ""
    reached = f", coverage {result.coverage}, corpus {result.corpus}" if result.coverage else ""
    lines = [f"{plan.subject.name}, {', '.join(plan.targets)}: {result.programs:,} programs in"
             f" {result.fuzz_seconds:.1f} s of fuzzing{rate},"
             f" {result.seconds:.1f} s in all{_elsewhere(plan, result)}{reached}, seed"
             f" {plan.seed}" + (", interrupted" if result.interrupted else "")]
    for judged in result.new:
        record = judged.finding
        minimal = "1-minimal" if record.one_minimal else "not shown to be 1-minimal"
        lines.append(
            f"new: {record.signature}\n"
            f"  {shown(judged.folder)}: {record.lines} lines"
            f" (from {record.lines_before}), {minimal},"
            f" {record.minimize_runs} runs in {record.minimize_seconds:.1f} s;"
            f" fails in {record.rate:.0%} of {record.verified_runs} fresh processes"
            f" (at least {record.rate_low:.0%}); found after"
            f" {record.runs_to_find:,} programs, {record.seconds_to_find:.1f} s")
        lines += ["    " + line for line in judged.text.splitlines()]
    lines += _seen_again("known", result.known) + _seen_again("old", result.old)
    alone = Counter(judged.folder for judged in result.unreproduced)
    lines += [f"not reproduced alone: {shown(folder)}, seen {times} times"
              for folder, times in sorted(alone.items())]
    lines += [f"killed by something outside and started again: {name}, {times} times"
              for name, times in sorted(result.killed.items())]
    if plan.baseline:
        lines += _compared(plan.baseline)
    lines.append(f"findings: {len(result.new)} new, {len(result.known)} known"
                 + (f", {len(result.old)} old" if plan.baseline else "")
                 + (f", {len(result.unreproduced)} not reproduced" if result.unreproduced else "")
                 + (f", {result.repeats:,} not judged, with stacks of known ones"
                    if result.repeats else "")
                 + (f"; {result.skipped} known programs were skipped" if result.skipped else ""))
    return "\n".join(lines + ([result.trouble] if result.trouble else []))


def _elsewhere(plan: Plan, result: Result) -> str:
    """The average seconds that a job spent in phases other than fuzzing, if they are many."""
    jobs = plan.jobs * len(plan.targets)
    spent = {phase: seconds / jobs for phase, seconds in series.total(result.spent).items()
             if phase != series.FUZZING and seconds / jobs >= ELSEWHERE_SECONDS_MIN}
    phases = ", ".join(f"{seconds:.1f} s of {phase}" for phase, seconds in spent.items())
    return f" ({phases})" if phases else ""


def _seen_again(word: str, crashes: list[Judged]) -> list[str]:
    """One line for each bucket of CRASHES, which are known or old as WORD says."""
    again = Counter(one.id for one in crashes)
    variants = {name: len({one.text for one in crashes if one.id == name})
                for name in again}
    return [f"{word}: bucket {name}, seen again {times} times, {variants[name]} variants"
            for name, times in sorted(again.items())]


def _compared(old: baseline.Baseline) -> list[str]:
    """The size of the baseline, and its findings that made nothing old."""
    return [f"baseline {shown(old.folder)}: {len(old.findings)} findings",
            *(f"  {name} no longer fails" for name in old.gone),
            *(f"  {name} has no script; the hunt cannot recognize it"
              for name in old.without_script)]


def document(plan: Plan, result: Result) -> dict:
    """The JSON output."""
    compared = {"baseline": {
        "folder": str(plan.baseline.folder), "findings": len(plan.baseline.findings),
        "fail_no_more": plan.baseline.gone, "without_script": plan.baseline.without_script,
    }} if plan.baseline else {}
    return {
        "subject": plan.subject.name, "sanitizer": plan.subject.sanitizer,
        "targets": plan.targets, "seed": plan.seed, "programs": result.programs,
        "seconds": result.seconds, "fuzz_seconds": result.fuzz_seconds,
        "spent": result.spent,
        "coverage": result.coverage, "corpus": result.corpus,
        **{name: [judged.plain() for judged in getattr(result, name)]
           for name in ("new", "known", "old")}, **compared,
        "unreproduced": [judged.plain() for judged in result.unreproduced],
        "repeats": result.repeats, "killed": result.killed, "interrupted": bool(result.interrupted),
        "trouble": result.trouble,
        "exit_code": result.exit_code,
    }


def _default_targets(name: str, function: tested.TestedFunction | None) -> list[str]:
    target = FUNCTION_TARGET if function else registry.own_target(name)
    return [target] if target else catalogue.fuzzable_targets()


def _call_once(chosen: subject.Subject, target: str) -> None:
    """Says which ops about the tested function run, and why others do not."""
    ran, failed = first_calls.check(chosen, target)
    console.say(f"{target} tests {chosen.function} by {len(ran)} ops: {', '.join(ran)}")
    for line in failed:
        console.say(f"not tested: {line}")


def _with_special_ops(chosen: subject.Subject, targets: list[str]) -> list[str]:
    """TARGETS without those whose special ops the subject all lacks.

    Such a target would only repeat the work of cheaper targets.
    """
    kept = []
    for target in targets:
        special = [op for op in server.describe(chosen, target)["ops"] if op.get("special")]
        if special and all(op["masked"] for op in special):
            console.say(f"{target} is left out: {chosen.name} lacks all of its {len(special)} ops")
        else:
            kept.append(target)
    return kept


def _drawn_seed() -> int:
    import secrets

    return secrets.randbelow((1 << 31) - 2) + 1


def _positive(kind):
    def read(text: str):
        value = kind(text)
        if not 0 < value < 1 << 31:
            raise ValueError
        return value
    read.__name__ = f"positive {kind.__name__}"
    return read
