"""The trace of SLOTCORE_TRACE=1, which docs and driver rely on: one line per event, in order."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import slotcore as T

ROOT = Path(__file__).resolve().parents[3]
FIELD = re.compile(r"(\w[\w ]*?) (0x[0-9a-f]+|\d+|\w+)")

SCRIPT = """
import os, sys
sys.path[:] = {path!r}
import slotcore as T
names = dict(T=T, address=lambda *numbers: os.write(2, b"= %d %d\\n" % numbers))
for line in {program!r}.splitlines():
    os.write(2, b"> " + line.encode() + b"\\n")
    exec(line, names)
os._exit(0)
"""


def run(program, trace="1"):
    """What PROGRAM writes to stderr: each of its lines, then its events. It must exit with 0."""
    environment = {name: text for name, text in os.environ.items() if name != "SLOTCORE_TRACE"}
    if trace is not None:
        environment["SLOTCORE_TRACE"] = trace
    script = SCRIPT.format(path=sys.path, program=program)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def events_of(lines):
    """The (event, {field: value}) pairs of the trace lines."""
    return [(line[41:61].strip(), dict(field.groups() for field in
                                       map(FIELD.fullmatch, line[61:].split("  ")) if field))
            for line in map(with_short_place, lines) if line.startswith("    ")]


def with_short_place(line):
    """The line with a place as wide as its column, so that all lines have the same columns."""
    place, blank, rest = line[4:].partition(" ")
    return line if len(place) <= 36 else f"    {'':<36} {rest}"


def last_events(program):
    """The names of the events of the last line of PROGRAM."""
    lines = run(program)
    begin = max(number for number, line in enumerate(lines) if line.startswith("> "))
    return [event for event, fields in events_of(lines[begin:])]


LIFE = """t = T.ones(1)
s = t.untyped_storage()
del s
s = t.untyped_storage()
T.enter_hermetic()
h = t.untyped_storage()
del h
del s
T.exit_hermetic()
del t"""

RESURRECTS = T._preservation == "resurrection"
FREED = ["not preserved", "slot cleared", "wrapper freed", "impl freed"]
WRAP = "t = T.ones(1)\ns = t.untyped_storage()\n"


@pytest.mark.parametrize("trace", [None, "", "0"])
def test_off_prints_nothing(trace):
    assert run(LIFE, trace) == [f"> {line}" for line in LIFE.splitlines()]


def test_every_line_has_place_event_and_fields_in_columns():
    traced = [line for line in run(LIFE) if not line.startswith("> ")]
    assert len(traced) > 20
    for line in traced:
        place, event, fields = re.fullmatch(
            r"    (core/[\w/]+\.(?:cc|h):\d+) +(\w+(?: \w+)*)(?: {2,}(\S.*))?", line).groups()
        assert line == f"    {place:<36} {event:<20}{'  ' + fields if fields else ''}".rstrip()
        for field in (fields or "").split("  "):
            assert field in ("", "(hermetic)") or FIELD.fullmatch(field), line


def test_a_place_is_that_of_the_trace_point():
    seen = set()
    for line in run(LIFE):
        if line.startswith("    "):
            file, number = line.split()[0].split(":")
            event = events_of([line])[0][0]
            source = (ROOT / file).read_text().splitlines()[int(number) - 1]
            assert f'"{event}"' in source, line
            seen.add(event)
    assert len(seen) > 10


@pytest.mark.parametrize("program, events", [
    (WRAP, ["slot read", "tag claimed", "slot written"]
     + ["wrapper held"] * (not RESURRECTS) + ["wrapper created"]),
    (WRAP + "s = t.untyped_storage()", ["slot read"]),
    (WRAP + "del s", ["wrapper preserved"] * RESURRECTS),
    (WRAP + "del s\ns = t.untyped_storage()", ["slot read"] + ["wrapper resurrected"] * RESURRECTS),
    (WRAP + "T.enter_hermetic()", ["hermetic entered"]),
    (WRAP + "T.enter_hermetic()\nh = t.untyped_storage()", ["wrapper created"]),
    (WRAP + "T.enter_hermetic()\nh = t.untyped_storage()\ndel h",
     ["not preserved", "wrapper freed"]),
    (WRAP + "T.enter_hermetic()\ndel s", ["wrapper preserved"] * RESURRECTS),
    (WRAP + "T.enter_hermetic()\nT.exit_hermetic()", ["hermetic left"]),
    ("s = T.UntypedStorage(4)\ns.resize_(8)", ["storage resized"]),
    ("s = T.UntypedStorage(4)\ndel s", FREED),
    (WRAP + "del s\ndel t", FREED[:3] + ["references released", "impl freed", "handed over"] + FREED
     if RESURRECTS else
     FREED[:3] + ["references released", "wrapper released"] + FREED[:3] + ["impl freed"] * 2),
], ids=["wrap", "wrap again", "preserve", "resurrect", "enter", "hermetic wrap",
        "delete hermetic", "hermetic delete", "exit", "resize", "free", "last owner"])
def test_each_step_prints_its_events_in_order(program, events):
    assert last_events(program.strip()) == events


def test_addresses_are_those_of_the_impl_and_of_the_wrapper():
    lines = run(WRAP + "address(s._cdata, id(s))\ndel s\ns = t.untyped_storage()")
    (numbers,) = [line for line in lines if line.startswith("= ")]
    impl, wrapper = (hex(int(number)) for number in numbers.split()[1:])
    named = [fields for event, fields in events_of(lines)
             if event in ("wrapper preserved", "wrapper resurrected", "slot written",
                          "wrapper held") and fields["impl"] == impl]
    assert [fields["wrapper"] for fields in named] == [wrapper] * (3 if RESURRECTS else 2)


def test_a_hermetic_wrapper_says_so():
    lines = run(WRAP + "T.enter_hermetic()\nh = t.untyped_storage()\ndel h")
    created, dropped = (line for line in lines[-4:] if "(hermetic)" in line)
    assert "wrapper created" in created and "not preserved" in dropped
    assert "still holds it" not in "".join(lines)
