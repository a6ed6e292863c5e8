"""State machines on the fake engine: hypothesis draws programs, and failing ones are kept."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from slotfuzz import stateful
from slotfuzz.engine.server import Server
from slotfuzz.hunt.enumerate import bound_after

EXAMPLES = settings(max_examples=100, derandomize=True, database=None, deadline=None,
                    stateful_step_count=12, phases=[Phase.generate])

CRASH = """\
t0 = T.ones(1)
s0 = t0.untyped_storage()
enter_hermetic()
del s0
s1 = t0.untyped_storage()
del s1
"""


@pytest.fixture
def make(fake_subject, tmp_path, monkeypatch):
    """Makes the machine of the fake subject; ends its servers after the test."""
    made = []
    monkeypatch.setattr(stateful.atexit, "register", made.append)
    yield lambda: stateful.machine(fake_subject, "storage", out=tmp_path / "out", verify_runs=2)
    for close in made:
        close()


@pytest.fixture
def seen(monkeypatch):
    """The programs that run, with their replies."""
    runs, run = [], Server.run

    def note(self, text, *words):
        reply = run(self, text, *words)
        runs.append((text, reply))
        return reply
    monkeypatch.setattr(Server, "run", note)
    return runs


def test_there_is_a_rule_for_each_op_that_the_subject_has(make):
    machine = make()
    names = {rule.function.__name__.removeprefix("op_") for rule in machine.rules()}
    assert names == set(machine.judge.server.table.ops)


def test_hypothesis_finds_a_bug(make):
    with pytest.raises(BaseException) as caught:
        run_state_machine_as_test(make(), settings=EXAMPLES)
    assert all(isinstance(one, stateful.Broken) for one in [
        *getattr(caught.value, "exceptions", [caught.value])])


def test_a_hard_crash_is_kept_minimized_and_written_like_a_finding(make, tmp_path):
    judge = make().judge
    with pytest.raises(stateful.Broken, match="heap-use-after-free") as caught:
        judge.run(judge.server.parse(CRASH))
    (folder,) = (path for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert sorted(os.listdir(folder)) == ["NOTES.md", "finding.json", "report.txt", "repro.py",
                                           "timeline.svg"]
    (kept,) = (tmp_path / "out").glob("*.py")
    assert kept.read_text() == CRASH
    message = str(caught.value)
    minimized = message.partition("minimized: ")[2].partition("as it was found")[0]
    assert len(minimized.splitlines()) == 1 + 5 and message.endswith(CRASH)


def test_programs_read_only_bound_variables_and_the_engine_accepts_each_line(make, monkeypatch):
    machine, programs = make(), []
    monkeypatch.setattr(machine.judge, "run", programs.append)
    run_state_machine_as_test(machine, settings=EXAMPLES)
    server = machine.judge.server
    assert {line.op for program in programs for line in program} == set(server.table.ops)
    for program in programs:
        assert server.parse(server.table.program_text(program)) == program
        bound = frozenset()
        for line in program:
            after = bound_after(server.table, line, bound)
            assert set(server.table.variables(line)) <= bound | server.table.bound(line)
            bound = after


def test_each_signature_has_an_exception_of_its_own(make):
    judge = make().judge
    crash = judge.server.parse(CRASH)
    lost = judge.server.parse("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.tag = 7\n")
    kinds = []
    for lines in (crash, lost, crash[:3], crash):
        try:
            judge.run(lines)
        except stateful.Broken as broken:
            kinds.append(type(broken))
    assert len(kinds) == 3 and kinds[0] is kinds[2] is not kinds[1]


def test_a_known_signature_is_minimized_once(make, seen):
    judge = make().judge
    lines = judge.server.parse("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.tag = 7\n")
    for _ in range(2):
        before = len(seen)
        with pytest.raises(stateful.Broken, match="P2 attributes"):
            judge.run(lines)
    assert len(seen) == before + 1


def test_a_clean_machine_passes_and_a_program_is_never_too_long(make, seen, monkeypatch):
    machine = make()
    monkeypatch.setitem(machine.judge.server.table.description, "line_max", 3)
    clean = [line for rule in machine.rules() if (line := rule.function.__name__) in (
        "op_ones", "op_wrap")]
    assert len(clean) == 2
    class Clean(machine):
        """A machine without the ops that the fake engine's bugs need."""
    for name in dir(machine):
        if name.startswith("op_") and name not in clean:
            setattr(Clean, name, None)
    run_state_machine_as_test(Clean, settings=settings(EXAMPLES, max_examples=20))
    assert {len(text.splitlines()) for text, _ in seen} <= {0, 1, 2, 3}
    assert max(len(text.splitlines()) for text, _ in seen) == 3


def test_the_documented_call_works(make):
    text = (Path(__file__).parents[3] / "docs" / "hypothesis.md").read_text()
    (call,) = set(re.findall(r'slotfuzz\.stateful\.machine\(("[^)]+")\)\.TestCase', text))
    assert call == '"mutant:hermetic-del-storage", "storage"'
    case = make().TestCase
    assert Phase.shrink not in case.settings.phases and case.settings.deadline is None
