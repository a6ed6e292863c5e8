"""Fuzzes, sorts out what is known, minimizes and verifies what is new, writes repro/<id>/.

Targets: by default all that can be clean, or the one of the mutant's header. A run is
reproducible by --seed, --runs and the same --corpus at the start.
"""

from collections import Counter
from pathlib import Path

from slotfuzz import console, options
from slotfuzz.engine import server
from slotfuzz.errors import UserError
from slotfuzz.finding import places
from slotfuzz.hunt import baseline, hunt, series
from slotfuzz.hunt.plan import Plan, Result, check_folders
from slotfuzz.paths import findings_root, shown
from slotfuzz.report import annotate
from slotfuzz.subject import catalogue, registry, subject, tools

EXAMPLE = "./slotfuzz hunt --subject mutant:hermetic-del-storage --stop-at-first"
ELSEWHERE_SECONDS_MIN = 0.1


def add_arguments(parser) -> None:
    """The options of hunt."""
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options.add_subject(parser)
    parser.add_argument("--seconds", type=_positive(float), default=60.0, help="60 by default")
    parser.add_argument("--runs", type=_positive(int), help="programs per target and job")
    parser.add_argument("--seed", type=_positive(int), help="drawn and reported by default")
    parser.add_argument("--jobs", type=_positive(int), default=1, help="processes per target")
    parser.add_argument("--corpus", type=Path, metavar="DIR",
                        help="build/corpus/<subject>/<target> by default, with corpus/<target>")
    parser.add_argument("--out", type=Path, metavar="DIR", default=findings_root(),
                        help="where findings go; by default repro/ of the checkout, or repro/ here"
                             " where that is read-only or slotfuzz is installed")
    parser.add_argument("--baseline", type=Path, metavar="DIR",
                        help="findings in DIR, at any depth, are old and do not fail the hunt;"
                             " all others do, also those in repro/")
    parser.add_argument("--stop-at-first", action="store_true",
                        help="end after the first new finding")


def run(args, output) -> int:
    """Hunts; 1 if anything was found that is not old."""
    name = args.subject or registry.DEFAULT
    targets = list(dict.fromkeys(args.targets)) or _default_targets(name)
    if args.corpus is not None and len(targets) > 1:
        raise UserError("--corpus is for one target; name it: hunt TARGET --corpus DIR")
    old = baseline.Baseline(args.baseline) if args.baseline else None
    if old:
        old.check_apart(args.out)
    check_folders(args.out, args.corpus)
    chosen = subject.resolve(name, args.sanitizer, targets, args.python, tree=options.tree(args))
    if not args.targets:
        targets = _with_special_ops(chosen, targets)
    for reason in tools.blindness() if chosen.watch.can_be_blind else []:
        console.say(f"ThreadSanitizer may be blind here: {reason}")
    plan = Plan(
        subject=chosen, targets=targets, out=args.out, seconds=args.seconds, runs=args.runs,
        seed=args.seed or _drawn_seed(), jobs=args.jobs, corpus=args.corpus, baseline=old,
        stop_when=(lambda record: True) if args.stop_at_first else None, resumes=True)
    result = hunt.run(plan)
    annotate.say([places.read(Path(name)) for name in dict.fromkeys(
        record["folder"] for record in [*result.new, *result.known, *result.unreproduced])])
    output.text(summary(plan, result))
    output.document(document(plan, result))
    return result.exit_code


def summary(plan: Plan, result: Result) -> str:
    """What a person reads at the end."""
    rate = f" ({result.programs / result.fuzz_seconds:,.0f}/s)" if result.programs else ""
    reached = f", coverage {result.coverage}, corpus {result.corpus}" if result.coverage else ""
    lines = [f"{plan.subject.name}, {', '.join(plan.targets)}: {result.programs:,} programs in"
             f" {result.fuzz_seconds:.1f} s of fuzzing{rate},"
             f" {result.seconds:.1f} s in all{_elsewhere(plan, result)}{reached}, seed"
             f" {plan.seed}" + (", interrupted" if result.interrupted else "")]
    for record in result.new:
        minimal = "1-minimal" if record["one_minimal"] else "not shown to be 1-minimal"
        lines.append(
            f"new: {record['signature']}\n"
            f"  {shown(Path(record['folder']))}: {record['lines']} lines"
            f" (from {record['lines_before']}), {minimal},"
            f" {record['minimize_runs']} runs in {record['minimize_seconds']:.1f} s;"
            f" fails in {record['rate']:.0%} of {record['verified_runs']} fresh processes"
            f" (at least {record['rate_low']:.0%}); found after"
            f" {record['runs_to_find']:,} programs, {record['seconds_to_find']:.1f} s")
        lines += ["    " + line for line in record["text"].splitlines()]
    lines += _met("known", result.known) + _met("old", result.old)
    alone = Counter(record["folder"] for record in result.unreproduced)
    lines += [f"not reproduced alone: {shown(Path(folder))}, met {times} times"
              for folder, times in sorted(alone.items())]
    lines += [f"killed by something outside and started again: {name}, {times} times"
              for name, times in sorted(result.killed.items())]
    if plan.baseline:
        lines += _compared(plan.baseline)
    lines.append(f"findings: {len(result.new)} new, {len(result.known)} known"
                 + (f", {len(result.old)} old" if plan.baseline else "")
                 + (f", {len(result.unreproduced)} not reproduced" if result.unreproduced else "")
                 + (f"; {result.skipped} known programs were skipped" if result.skipped else ""))
    return "\n".join(lines + ([result.trouble] if result.trouble else []))


def _elsewhere(plan: Plan, result: Result) -> str:
    """Where a job was when it did not fuzz, if that took long; on average over the jobs."""
    jobs = plan.jobs * len(plan.targets)
    spent = {phase: seconds / jobs for phase, seconds in series.total(result.spent).items()
             if phase != series.FUZZING and seconds / jobs >= ELSEWHERE_SECONDS_MIN}
    told = ", ".join(f"{seconds:.1f} s of {phase}" for phase, seconds in spent.items())
    return f" ({told})" if told else ""


def _met(word: str, records: list[dict]) -> list[str]:
    """One line for each group of RECORDS, which are known or old as WORD says."""
    again = Counter(record["id"] for record in records)
    ways = {name: len({record["text"] for record in records if record["id"] == name})
            for name in again}
    return [f"{word}: group {name}, met {times} times more, in {ways[name]} ways"
            for name, times in sorted(again.items())]


def _compared(old: baseline.Baseline) -> list[str]:
    """What the baseline lists, and which part of it could not excuse anything."""
    return [f"baseline {shown(old.folder)}: {len(old.findings)} findings",
            *(f"  {name} fails no more" for name in old.gone),
            *(f"  {name} has no script; the hunt cannot recognize it"
              for name in old.without_script)]


def document(plan: Plan, result: Result) -> dict:
    """The same for a machine."""
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
        "new": result.new, "known": result.known, "old": result.old, **compared,
        "unreproduced": result.unreproduced,
        "killed": result.killed, "interrupted": bool(result.interrupted),
        "trouble": result.trouble,
        "exit_code": result.exit_code,
    }


def _default_targets(name: str) -> list[str]:
    target = registry.own_target(name)
    return [target] if target else catalogue.fuzzable_targets()


def _with_special_ops(chosen: subject.Subject, targets: list[str]) -> list[str]:
    """TARGETS without those that have ops of their own, of which the subject knows none.

    They would only do once more what the cheaper targets do.
    """
    kept = []
    for target in targets:
        special = [op for op in server.describe(chosen, target)["ops"] if op.get("special")]
        if special and all(op["masked"] for op in special):
            console.say(f"{target} is left out: {chosen.name} has none of its {len(special)} ops")
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
