"""The hunts of a campaign on its page: charts, numbers, and the time of each phase."""

from dataclasses import dataclass, replace

from markupsafe import Markup

from slotfuzz.hunt import series
from slotfuzz.report.chart import Line, chart
from slotfuzz.schema.campaign import NewFinding, Sample, Start

# The page shows charts for this many latest hunts, and one line for each older hunt.
CHARTS_MAX = 12
# Rows in the table of a hunt's samples.
ROWS_MAX = 12
# The numbers of a hunt that was killed before its first sample.
NOTHING = Sample(seconds=0.0, programs=0, rate=0, coverage=0, corpus=0, new=0, known=0,
                 unreproduced=0, spent=dict.fromkeys(series.PHASES, 0.0))
UNITS = ((3600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True)
class Chart:
    """A DRAWING under its TITLE; LINES are (words, CSS class)."""

    title: str
    is_log: bool
    lines: list[tuple[str, str]]
    drawing: Markup


@dataclass(frozen=True)
class Drawn:
    """A hunt: its START record, how it ENDED in words, its last NUMBERS, and its charts."""

    start: Start
    ended: str
    numbers: Sample
    # The number of its findings that belong to a baseline.
    old: int
    charts: list[Chart]
    # Rows of samples with their programs/s; seconds for each phase, over all jobs and for each
    # job.
    table: list[Sample]
    spent: dict[str, float]
    jobs: list[tuple[str, dict]]
    found: list[NewFinding]
    set_up: float | None


def shown(hunts: list[series.Campaign]) -> list[Drawn]:
    """HUNTS for the page, latest first; the first CHARTS_MAX have charts."""
    return [_drawn(hunt, number < CHARTS_MAX) for number, hunt in enumerate(reversed(hunts))]


def totals(hunts: list[Drawn]) -> dict:
    """The sums of programs, seconds and time spent over all HUNTS."""
    return {"programs": sum(one.numbers.programs for one in hunts),
            "seconds": sum(one.numbers.seconds for one in hunts),
            "spent": {phase: sum(one.spent[phase] for one in hunts) for phase in series.PHASES}}


def shares(spent: dict[str, float]) -> list[tuple[str, float, float]]:
    """(phase, seconds, fraction of the total) for each phase in SPENT."""
    whole = sum(spent.values())
    return [(phase, seconds, seconds / whole if whole else 0.0)
            for phase, seconds in spent.items()]


def _drawn(hunt: series.Campaign, has_charts: bool) -> Drawn:
    samples, end = _with_rates(hunt.samples), hunt.end
    last = hunt.samples[-1] if hunt.samples else NOTHING
    if end:
        last = Sample(
            seconds=end.seconds, programs=end.programs, rate=0, coverage=end.coverage,
            corpus=end.corpus, new=len(end.new), known=end.known, unreproduced=end.unreproduced,
            spent=series.total(end.spent))
        # The end has no rate, and gets that of the sample before.
        samples += [replace(last, rate=samples[-1].rate)] if samples else _with_rates([last])
    return Drawn(
        hunt.start, _ended(hunt), last, end.old if end else 0,
        _charts(samples) if has_charts else [], _rows(samples),
        {phase: last.spent.get(phase, 0.0) for phase in series.PHASES},
        list(end.spent.items()) if end else [], hunt.found, end.set_up if end else None)


def duration(seconds: float) -> str:
    """SECONDS in words, such as 1 h 5 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    parts = []
    for size, unit in UNITS:
        count, seconds = divmod(round(seconds), size)
        parts += [f"{count} {unit}"] if count else []
    return " ".join(parts[:2])


def _ended(hunt: series.Campaign) -> str:
    if not hunt.end:
        return "did not end: it was killed, or still runs"
    how = "was interrupted" if hunt.end.interrupted else "ended by itself"
    if hunt.end.trouble:
        how = f"ended with trouble: {hunt.end.trouble}"
    killed = [f"{count} × {process}" for process, count in hunt.end.killed.items()]
    return how + (f"; killed from outside and started again: {', '.join(killed)}" if killed else "")


def _with_rates(samples: list[Sample]) -> list[Sample]:
    """SAMPLES with programs/s: the engine's rate, or the programs since the sample before.

    The engine has no rate in its first second.
    """
    rated, before = [], NOTHING
    for sample in samples:
        passed = sample.seconds - before.seconds
        since = max(0, sample.programs - before.programs)
        before = replace(
            sample, rate=sample.rate or (round(since / passed) if passed > 0 else 0))
        rated.append(before)
    return rated


def _rows(samples: list[Sample]) -> list[Sample]:
    """At most ROWS_MAX of SAMPLES, including the last one."""
    step = max(1, -(-len(samples) // ROWS_MAX))
    return samples[::-step][::-1]


def _charts(samples: list[Sample]) -> list[Chart]:
    if not samples:
        return []
    shown = [
        ("Coverage", [("edges", "one", "coverage")], False),
        ("Corpus", [("programs", "two", "corpus")], True),
        ("Findings", [("not reproduced", "three", "unreproduced"), ("seen again", "two", "known"),
                      ("new", "bad", "new")], True),
        ("Programs/s", [("programs/s", "one", "rate")], True),
    ]
    made = []
    for title, lines, is_log in shown:
        drawn_lines = [Line(name, style, [(one.seconds, getattr(one, field)) for one in samples])
                       for name, style, field in lines]
        words = ", ".join(f"{one.name} {one.points[0][1]:,} to {one.points[-1][1]:,}"
                          for one in drawn_lines)
        text = chart(f"{title} over {duration(samples[-1].seconds)}: {words}", drawn_lines,
                     is_log)
        made.append(Chart(title, is_log, [(name, style) for name, style, _ in reversed(lines)],
                          Markup(text)))
    return made
