"""The driver restarts and counts engine processes that something kills, and reports no finding."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slotfuzz.engine import channel, fuzzer, kills
from slotfuzz.engine.server import Server
from slotfuzz.engine.zygote import Zygote
from slotfuzz.errors import KilledError, MachineError
from slotfuzz.hunt import hunt, job
from slotfuzz.hunt.plan import Plan
from slotfuzz.triage import triage, verify
from tests.driver import replies
from tests.driver.conftest import CRASH, write_program


@pytest.fixture
def plan(fake_subject, tmp_path):
    """A plan of few programs on a fake subject that finds nothing; fields can be replaced."""
    # Nothing is tagged with 7, and nothing deleted in hermetic mode: no program is a finding.
    text = fake_subject.target("storage").read_text().replace("#!/bin/sh\n", "")
    quiet = ("import sys; from tests.driver import fake_engine;"
             " fake_engine.random_line = lambda _: 't0 = T.ones(1)';"
             " sys.exit(fake_engine.main(sys.argv[1:]))")
    root = Path(__file__).resolve().parents[3]
    write_program(fake_subject.target("storage"),
                  f'case "$*" in *--spawn*) cd {root}; export PYTHONPATH=tests/driver;'
                  f' exec /usr/bin/python3 -c "{quiet}"'
                  f' "$@";; esac\n{text}')

    def make(**fields):
        return Plan(**{**dict(
            subject=fake_subject, targets=["storage"], out=tmp_path / "out", seconds=60, runs=40,
            seed=1, corpus=tmp_path / "corpus", suppressions=()), **fields})
    return make


def kill_after_start(monkeypatch, victim, times):
    """Kills the process that VICTIM(fuzzer) names, in the first TIMES fuzzing processes."""
    started = []

    class Killed(fuzzer.Fuzzer):
        def __init__(self, *words):
            super().__init__(*words)
            started.append(self)
            if len(started) <= times:
                os.kill(victim(self), signal.SIGKILL)
    monkeypatch.setattr(job, "Fuzzer", Killed)


def test_a_process_whose_symbolizer_was_killed_has_found_nothing(plan, monkeypatch):
    """It asks the symbolizer for the names of new functions, and dies of SIGPIPE."""
    ended = []

    class Piped(fuzzer.Fuzzer):
        def finish(self):
            ended.append(super().finish())
            return -signal.SIGPIPE if len(ended) == 1 else ended[-1]
    monkeypatch.setattr(job, "Fuzzer", Piped)
    monkeypatch.setattr(job, "PROCESS_PROGRAMS_MAX", 20)
    result = hunt.run(plan())
    assert (result.exit_code, result.programs) == (0, 40)
    assert result.killed == {"a fuzzing process of storage": 1}


VICTIMS = {
    "a fuzzing process of storage": lambda one: one._zygote._child,
    "the parent of the fuzzing processes of storage":
        lambda one: one._zygote._channel._process.pid,
}


@pytest.mark.parametrize("process", VICTIMS)
def test_a_killed_process_is_started_again_and_counted(plan, monkeypatch, process):
    kill_after_start(monkeypatch, VICTIMS[process], 3)
    result = hunt.run(plan())
    assert result.killed == {process: 3}
    assert (result.exit_code, result.programs, result.trouble) == (0, 40, "")


@pytest.mark.parametrize("process", VICTIMS)
def test_a_hunt_whose_processes_are_killed_on_and_on_says_that_and_ends(
        plan, monkeypatch, process):
    kill_after_start(monkeypatch, VICTIMS[process], 1000)
    result = hunt.run(plan())
    assert result.exit_code == 2
    assert f"{process} was killed (SIGKILL) {kills.KILLS_IN_A_ROW_MAX} times" in result.trouble


def test_kills_that_are_far_apart_do_not_add_up(plan, monkeypatch):
    monkeypatch.setattr(job, "KILL_FORGOTTEN_SECONDS", 0)
    kill_after_start(monkeypatch, VICTIMS["a fuzzing process of storage"], 7)
    result = hunt.run(plan())
    assert result.exit_code == 0 and sum(result.killed.values()) == 7


@pytest.mark.parametrize("is_saved", [True, False])
@pytest.mark.parametrize("dies", ["process", "parent"])
def test_a_crash_whose_process_is_killed_while_it_reports_is_not_lost(
        fake_subject, tmp_path, monkeypatch, is_saved, dies):
    started, killed = [], []

    class Killed(fuzzer.Fuzzer):
        def __init__(self, *words):
            super().__init__(*words)
            started.append(self)

        def finish(self):
            code = super().finish()
            if code == 77 and not killed:
                killed.append(self.artifact().read_text())
                if is_saved:
                    self.artifact().write_text("t0 = T.o")  # half of a program
                else:
                    self.artifact().unlink()
                if dies == "parent":
                    self._zygote.close()
                    raise KilledError("the parent")
                return -signal.SIGKILL
            return code
    monkeypatch.setattr(job, "Fuzzer", Killed)
    result = hunt.run(Plan(
        fake_subject, ["storage"], tmp_path / "out", corpus=tmp_path / "corpus", suppressions=(),
        seed=4, stop_when=lambda record: True))
    assert len(started) == 1, "the first process has found it"
    assert killed and sum(result.killed.values()) == 1
    assert [judged.finding.kind for judged in result.new] == ["heap-use-after-free"]


def test_a_request_to_a_killed_fork_server_is_made_again(fake_subject):
    told = []
    with Server(fake_subject, "storage", kills=kills.Kills(told.append)) as server:
        server.run("")
        os.kill(server._channel._process.pid, signal.SIGKILL)
        assert server.run(CRASH).is_finding
        assert server.kills.counts == {"the fork server of storage": 1} and len(told) == 1


def test_a_program_whose_child_is_killed_runs_again(fake_subject, monkeypatch):
    answers = [{"killed": True}, {"killed": True}, dataclasses.asdict(replies.CLEAN)]
    with Server(fake_subject, "storage") as server:
        monkeypatch.setattr(channel.Channel, "answer", lambda *_: answers.pop(0))
        server._channel = _Silent()
        assert not server.run("").is_finding
        assert sum(server.kills.counts.values()) == 2


class _Silent(channel.Channel):
    """A channel without a process."""

    def __init__(self):
        """Starts no process."""

    def send(self, request):
        """Drops the request."""

    def close(self):
        """Has no process to end."""


def test_what_is_killed_each_time_is_the_machines_error():
    def work():
        raise KilledError("the fork server of storage")
    counted = kills.Kills(lambda text: None)
    with pytest.raises(MachineError, match="was killed .* 5 times in a row; is memory short"):
        counted.repeat(work)


def test_a_run_of_a_script_that_is_killed_is_no_failure(tmp_path):
    script = tmp_path / "repro.py"
    script.write_text(
        "import os, pathlib, signal\nmark = pathlib.Path(__file__ + '.ran')\n"
        "if not mark.exists():\n    mark.touch()\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    counted = kills.Kills(lambda text: None)
    reply = replies.reply(kind="signal", signal=signal.SIGSEGV)
    verified = verify.verify([sys.executable, str(script)], tmp_path, dict(os.environ), 4, reply,
                             kills=counted)
    assert (verified.runs, verified.failed) == (4, 0)
    assert sum(counted.counts.values()) >= 1


def test_a_killed_interpreter_that_forks_is_started_again(tmp_path):
    script = tmp_path / "repro.py"
    script.write_text("raise ValueError\n")
    forker = verify.Forker([sys.executable], "json", dict(os.environ))
    counted = kills.Kills(lambda text: None)
    os.kill(forker._process.pid, signal.SIGKILL)
    ends = counted.repeat(lambda: forker.runs(script, 3))
    forker.close()
    assert [code for code, _ in ends] == [1, 1, 1]
    assert counted.counts == {"the interpreter that forks for scripts": 1}


def test_a_crash_that_cannot_be_judged_stays_for_the_next_hunt(fake_subject, tmp_path, monkeypatch):
    def judge(self, found):
        raise kills.too_many("the fork server of storage", 5)
    monkeypatch.setattr(triage.Triage, "judge", judge)
    plan = Plan(fake_subject, ["storage"], tmp_path / "out", corpus=tmp_path / "corpus",
                     suppressions=(), resumes=True)
    result = hunt.run(plan)
    assert result.exit_code == 2 and "5 times in a row" in result.trouble
    monkeypatch.undo()
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    again = hunt.run(Plan(**{**vars(plan), "stop_when": lambda record: True}))
    assert again.new and again.programs == 0


def test_a_zygote_whose_process_was_killed_can_be_stopped_and_closed(fake_subject):
    zygote = Zygote(fake_subject, "storage")
    os.kill(zygote._channel._process.pid, signal.SIGKILL)
    with pytest.raises(KilledError):
        zygote.start([], Path("/nowhere"))
        zygote.wait()
    zygote.stop()
    zygote.close()
    assert zygote.is_closed


def test_a_child_that_is_forked_while_its_group_is_killed_dies_as_well():
    code = ("import json, os, sys, time; print(json.dumps({'ready': True}), flush=True);"
            " sys.stdin.readline(); os.fork(); time.sleep(99)")
    for pause in range(60):
        one = channel.Channel("a server", [sys.executable, "-c", code], dict(os.environ))
        one.send({})
        deadline = time.monotonic() + pause * 5e-5
        while time.monotonic() < deadline:
            pass
        one.kill()
        is_over = _dies(one._process.pid)
        one.close()
        assert is_over, pause


def _dies(group):
    """Whether all processes of the group end soon; an escaped child would sleep on."""
    deadline = time.monotonic() + 20
    while subprocess.run(["pgrep", "-r", "RSD", "-g", str(group)], capture_output=True,
                         check=False).returncode == 0:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
