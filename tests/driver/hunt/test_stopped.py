"""A hunt that is interrupted or killed leaves no process and no waiting thread."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from slotfuzz.engine.kills import Kills
from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.triage import crash, triage
from slotfuzz.triage.servers import Servers
from tests.driver.conftest import CRASH, ROOT, write_program


def test_an_error_that_stops_the_hunt_ends_a_waiting_judge(fake_subject, tmp_path):
    text = fake_subject.target("storage").read_text().replace("#!/bin/sh\n", "")
    mark = f"slotfuzz-test-{os.getpid()}-judge"
    endless = ("import sys, time; from tests.driver import fake_engine, fake_run;"
               " fake_run.execute = lambda *_: time.sleep(99); fake_engine.main(sys.argv[1:])")
    write_program(fake_subject.target("storage"),
                  f'case "$*" in *--serve*) cd {ROOT}; exec /usr/bin/python3 -c "{endless}"'
                  f" --serve {mark};; esac\n{text}")
    with (pytest.raises(KeyboardInterrupt), ThreadPoolExecutor(1) as pool,
          triage.Triage(fake_subject, tmp_path, 2) as judge):
        found = crash.Crash("storage", CRASH, "", 9, 1.0, 1)
        verdict = pool.submit(judge.judge, found)
        assert _wait(lambda: _running(mark)), "the server did not start"
        raise KeyboardInterrupt
    with pytest.raises(BrokenError, match="died|was ended"):
        verdict.result()


def test_a_server_that_is_being_started_is_ended_too(fake_subject, monkeypatch):
    servers, start = Servers(fake_subject, Kills()), Server._start

    def start_and_end_all(server):
        channel = start(server)
        servers.kill()
        return channel

    monkeypatch.setattr(Server, "_start", start_and_end_all)
    with pytest.raises(BrokenError, match="was ended"):
        servers.of("storage").run("")
    servers.close()


INTERRUPTED = """
import sys
sys.path[:0] = [{root!r}, {root!r} + "/harness"]
from pathlib import Path
from slotfuzz.hunt import hunt
from slotfuzz.hunt.plan import Plan
from slotfuzz.subject.subject import Subject
subject = Subject("core", "address", "address", Path({folder!r}), "/bin/false")
result = hunt.run(Plan(subject, ["storage"], Path({out!r}), seconds=60, suppressions=(),
                            corpus=Path({out!r}) / "corpus", runs=None, seed=3))
print(result.interrupted, result.exit_code, result.seconds < 30)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_hunt_that_is_stopped_leaves_no_process(fake_subject, tmp_path, number):
    # This target never finds anything, so the hunt is in its loop when it gets the signal.
    text = fake_subject.target("storage").read_text().replace("#!/bin/sh\n", "")
    mark = f"slotfuzz-test-{os.getpid()}-{number}"
    endless = ("import sys, time; from tests.driver import fake_engine;"
               " fake_engine.fuzz = lambda *_: time.sleep(99); fake_engine.main(sys.argv[1:])")
    write_program(fake_subject.target("storage"),
                  f'case "$*" in *--spawn*) cd {ROOT}; exec /usr/bin/python3 -c "{endless}"'
                  f" --spawn {mark};; esac\n{text}")
    script = INTERRUPTED.format(root=str(ROOT), folder=str(fake_subject.folder),
                                out=str(tmp_path / "out"))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert _wait(lambda: _running(mark)), "the target did not start"
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert _wait(lambda: not _running(mark)), "the target still runs"
    if number == signal.SIGINT:
        assert out.split() == ["2", "130", "True"] and process.returncode == 0


def _running(mark: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False


def _wait(condition, seconds=20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
