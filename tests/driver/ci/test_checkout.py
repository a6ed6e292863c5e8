"""How a gate runs the commands of a checkout: their errors, and how it stops them."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from slotfuzz.ci.checkout import Answer, Checkout, Stopped
from slotfuzz.errors import BrokenError, MachineError


def command(tmp_path, text):
    """A checkout whose slotfuzz is a shell script."""
    (tmp_path / "slotfuzz").write_text(f"#!/bin/sh\n{text}\n")
    (tmp_path / "slotfuzz").chmod(0o755)
    return Checkout(tmp_path)


@pytest.mark.parametrize("text, error, words", [
    ('echo \'{"error": "no such target"}\'; exit 2', MachineError, "no such target"),
    ("echo broken >&2; exit 3", BrokenError, "broken"),
    ("echo no JSON", MachineError, "no answer"),
])
def test_an_error_of_a_command_is_an_error_of_the_gate(tmp_path, text, error, words):
    with pytest.raises(error, match=words):
        command(tmp_path, text).ask("hunt", "storage")


@pytest.fixture
def stopped(tmp_path):
    """Starts a command that runs TEXT when stopped, and stops it: its checkout, and a future."""
    with ThreadPoolExecutor(1) as pool:
        def run(text):
            here = command(tmp_path, f"trap '{text}' INT; touch {tmp_path}/started;"
                           " while true; do sleep 0.05; done")
            answer = pool.submit(here.ask, "hunt", "storage")
            while not (tmp_path / "started").exists():
                time.sleep(0.01)
            here.stop()
            return here, answer
        yield run


@pytest.mark.parametrize("text", [
    "exit 130", "trap - INT; kill -INT $$", 'echo "{\\"error\\": \\"interrupted\\"}"; exit 130'])
def test_a_command_that_is_stopped_without_an_answer_raises_stopped(stopped, text):
    here, answer = stopped(text)
    with pytest.raises(Stopped):
        answer.result()
    with pytest.raises(Stopped):
        here.ask("hunt", "storage")


def test_the_answer_of_a_stopped_command_counts(stopped):
    assert stopped("echo [1]; exit 1")[1].result() == Answer(1, [1])


def test_a_command_does_not_annotate_findings_since_the_gate_does(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    answer = command(tmp_path, 'echo "[\\"$GITHUB_ACTIONS\\", \\"$3\\"]"').ask("hunt", "storage")
    assert answer == Answer(0, ["", "--json"])
