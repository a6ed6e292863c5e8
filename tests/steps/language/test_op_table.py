"""An op is a row of text: a target reads a new row without a build, and reports a mistake."""

import json
import shutil
import subprocess

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.paths import OPS
from slotfuzz.subject import subject

TARGET = "storage"
# This op collects the dead cycle that PROGRAM leaves.
COLLECTING = """[storage]
collect_youngest = ["", "gc.collect(0)", "", "Runs the collector on what is new.", "collects"]
"""
PROGRAM = "\n".join(["s0 = T.UntypedStorage(4)", "dead_cycle(s0)", "del s0", "gc.collect(0)", ""])


@pytest.fixture(name="chosen")
def plain_core():
    """The core without a sanitizer."""
    return subject.resolve("core", "none", [TARGET], with_python=False)


@pytest.fixture(name="table")
def copied_table(tmp_path, monkeypatch, chosen):
    """A copy of the op table, which targets read; CHOSEN is built before the copy changes."""
    table = tmp_path / "ops"
    shutil.copytree(OPS, table)
    monkeypatch.setattr(subject, "OPS", table)
    return table


def test_a_row_is_all_that_an_op_needs(chosen, table):
    built = chosen.target(TARGET).stat().st_mtime_ns
    with Server(chosen, TARGET) as server:
        assert server.run(PROGRAM).dropped == 1
    (table / "new.ops").write_text(COLLECTING)
    with Server(chosen, TARGET) as server:
        reply = server.run(PROGRAM)
        assert reply.outcome == "clean" and reply.dropped == 0
        assert reply.lines[-1].op == "collect_youngest"
        assert server.table.effects("collect_youngest") == {"collects"}
        drawn = server.extend(PROGRAM, 300, 1)
    assert any("gc.collect(0)" in one.removeprefix(PROGRAM) for one in drawn)
    assert chosen.target(TARGET).stat().st_mtime_ns == built


def test_a_mistake_in_a_row_is_one_line(chosen, table):
    (table / "new.ops").write_text(COLLECTING.replace("collects", "colects"))
    command = chosen.command(TARGET, "--describe")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith(f"slotfuzz: {table}/new.ops:2: no effect and no mark is called"
                                    " colects; there are ")
    assert len(result.stderr.splitlines()) == 1


def test_a_target_that_was_copied_has_the_table(chosen, tmp_path):
    copy = shutil.copy2(chosen.target(TARGET), tmp_path / "target")
    told = subprocess.run([copy, "--describe"], capture_output=True, text=True, check=True,
                          cwd=tmp_path).stdout
    with Server(chosen, TARGET) as server:
        assert json.loads(told)["ops"] == server.table.description["ops"]
