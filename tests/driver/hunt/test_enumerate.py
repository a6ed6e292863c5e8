"""Enumerating on the fake engine: all programs run, and no reduction loses a bug."""

import itertools
import json
import re
from dataclasses import replace

import pytest

from slotfuzz import cli
from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.hunt import enumerate as enumeration
from slotfuzz.language.program import Line
from slotfuzz.schema.answers import State
from slotfuzz.subject import subject

BUG = ["ones", "wrap", "del", "enter_hermetic"]
CRASH = ("sanitizer heap-use-after-free in slotcore::wrap", 5)


@pytest.fixture
def server(fake_subject):
    """A warm server on the fake engine."""
    with Server(fake_subject, "storage") as found:
        yield found


def programs_of(server, ops, lines):
    """The texts of all programs with exactly LINES lines that the enumeration runs."""
    made = [((), frozenset())]
    for _ in range(lines):
        made = [((*before, line), enumeration.bound_after(server.table, line, bound))
                for before, bound in made
                for line in enumeration.next_lines(server.table, ops, bound)]
    return ["\n".join(map(server.table.text, program)) for program, _ in made]


def every_text(texts, lines):
    """All programs of LINES lines of TEXTS that read only bound variables."""
    for program in itertools.product(texts, repeat=lines):
        bound = set()
        for text in program:
            binds, _, reads = text.rpartition(" = ")
            if not set(re.findall(r"\b[st]\d\b", reads)) <= bound:
                break
            bound |= {binds} - {""}
            if text.startswith("del "):
                bound.remove(text[4:])
        else:
            yield list(program)


def named_as_bound(program):
    """PROGRAM, renamed so that each line that binds a free name binds the lowest one."""
    names, made = {}, []
    for text in program:
        binds, _, reads = text.rpartition(" = ")
        reads = re.sub(r"\b[st]\d\b", lambda match: names[match[0]], reads)
        if text.startswith("del "):
            del names[text[4:]]
        if binds and binds not in names:
            names[binds] = next(word for number in range(4) if (
                word := f"{binds[0]}{number}") not in names.values())
        made.append(f"{names[binds]} = {reads}" if binds else reads)
    return "\n".join(made)


def test_every_program_runs_once_up_to_names(server):
    tensors, storages = ["t0", "t1", "t2", "t3"], ["s0", "s1", "s2", "s3"]
    texts = [f"{t} = T.ones(1)" for t in tensors]
    texts += [f"{s} = {t}.untyped_storage()" for s in storages for t in tensors]
    texts += [f"del {word}" for word in tensors + storages]
    made = programs_of(server, ["ones", "wrap", "del"], 4)
    assert sorted(made) == sorted({named_as_bound(program) for program in every_text(texts, 4)})
    assert len(set(made)) == len(made) > 50


def test_the_shortest_program_is_found_and_every_length_is_reported(server):
    reported = []
    result = enumeration.run(server, BUG, 5, report=lambda length: reported.append(length.lines))
    assert reported == [1, 2, 3, 4, 5] and not result.interrupted and not result.unrepeated
    assert [(found.signature, len(found.lines)) for found in result.findings.values()] == [CRASH]
    assert [length.failing > 0 for length in result.lengths] == [False] * 4 + [True]
    (found,) = result.findings.values()
    assert server.run(found.text).is_finding


@pytest.mark.parametrize("literals, found", [([], []), (["7"], ["judge P2 attributes"])])
def test_a_literal_is_the_simplest_or_a_named_one(server, literals, found):
    result = enumeration.run(server, ["ones", "wrap", "tag"], 3, literals=frozenset(literals))
    assert [failing.signature for failing in result.findings.values()] == found
    assert [failing.lines[-1].operands for failing in result.findings.values()] == [
        ("s0", "7")] * len(found)


def test_visiting_each_state_once_reaches_every_state_with_fewer_programs(server):
    few, every = (enumeration.run(server, BUG, 4, reduce_states) for reduce_states in (True, False))
    assert few.programs < every.programs
    assert few.states == every.states > 20


def test_a_failure_only_among_other_programs_is_not_a_finding(server, monkeypatch):
    """The fake child is spoilt by its first program: all later ones fail."""
    def spoilt(self, programs):
        replies = [State("clean", False, True, text)
                   for text in programs[:1]]
        return replies + [State("finding", True, False, None)] * (len(programs) > 1)
    monkeypatch.setattr(Server, "states", spoilt)
    result = enumeration.run(server, ["ones"], 3)
    assert [length.programs for length in result.lengths] == [1, 2, 5] and not result.findings


def test_a_program_that_fails_only_once_is_counted_and_not_a_finding(server, monkeypatch):
    def once(self, programs):
        return [State("clean" if not text else "finding", True, not text, None)
                for text in programs[:1]]
    monkeypatch.setattr(Server, "states", once)
    result = enumeration.run(server, ["ones"], 2)
    assert result.unrepeated == 1 and not result.findings


def test_programs_without_a_state_all_count_as_different(server, monkeypatch):
    """The engine computes no states for a target with threads."""
    states = Server.states
    monkeypatch.setattr(Server, "states", lambda self, programs: [
        replace(reply, state=None) for reply in states(self, programs)])
    result = enumeration.run(server, ["ones", "del"], 3)
    assert [length.programs for length in result.lengths] == [1, 3, 9]
    assert [length.states for length in result.lengths] == [1, 3, 9]


def test_a_failing_empty_program_stops_everything(server, monkeypatch):
    monkeypatch.setenv("FAKE_BROKEN", "1")
    with pytest.raises(BrokenError, match="empty program"):
        enumeration.run(server, BUG, 2)


def test_the_result_survives_ctrl_c(server):
    def interrupt(length):
        if length.lines == 3:
            raise KeyboardInterrupt
    result = enumeration.run(server, BUG, 6, report=interrupt)
    assert result.interrupted and [length.lines for length in result.lengths] == [1, 2, 3]


@pytest.mark.parametrize("text, known, expected", [
    ("t0 = T.ones(1)\nt1 = T.ones(1)\ns0 = t1.untyped_storage()", "t0 = T.ones(1)\n"
     "s0 = t0.untyped_storage()", True),
    ("t0 = T.ones(1)\nt1 = T.ones(1)\ns0 = t1.untyped_storage()\ndel t0", "t0 = T.ones(1)\n"
     "s0 = t0.untyped_storage()\ndel t0", False),
    ("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ndel t0", "t0 = T.ones(1)\n"
     "s0 = t0.untyped_storage()\ndel s0", False),
    ("s0.tag = 0", "s0.tag = 7", False), ("s1.tag = 7", "s0.tag = 7", True),
    ("s0.tag = 7", "", True), ("", "s0.tag = 7", False),
])
def test_a_program_contains_another_up_to_names(server, text, known, expected):
    assert enumeration.contains(
        server.table, tuple(server.parse(text)), tuple(server.parse(known))) == expected


def test_a_line_on_another_lane_is_another_line(server):
    line = server.parse("t0 = T.ones(1)")
    other = [Line(line[0].op, line[0].operands, 1)]
    assert not enumeration.contains(server.table, tuple(other), tuple(line))


@pytest.fixture
def command(fake_subject, monkeypatch, capsys):
    """The command on the fake engine: exit code and the document of --json."""
    monkeypatch.setattr(subject, "resolve", lambda *_: fake_subject)

    def call(*words):
        code = cli.main(["enumerate", *words, "--target", "storage", "--json"])
        return code, json.loads(capsys.readouterr().out)
    return call


def test_the_command_exits_with_1_and_prints_the_program(command):
    code, document = command("--lines", "5", "--ops", ",".join(BUG))
    (found,) = document["findings"]
    assert code == 1 and (found["signature"], found["lines"]) == CRASH
    assert "enter_hermetic()\n" in found["program"]
    assert document["programs"] == sum(row["programs"] for row in document["lengths"]) > 0


def test_no_shorter_program_fails_and_the_command_exits_with_0(command):
    code, document = command("--lines", "4", "--ops", ",".join(BUG))
    assert code == 0 and document["findings"] == [] and document["states"] > 20


def test_the_ops_of_all_mutants_are_the_default(command):
    """The fake engine knows only some of them."""
    _, document = command("--lines", "1")
    assert set(BUG) <= set(document["ops"]) and "nbytes" not in document["ops"]


@pytest.mark.parametrize("words, said", [
    (["--lines", "0"], "--lines"), (["--lines", "2", "--ops", "onse"], "did you mean ones"),
    (["--lines", "2", "--ops", ","], "names no op"),
])
def test_bad_input_is_exit_2(command, words, said):
    code, document = command(*words)
    assert code == 2 and said in document["error"]
