"""Runs what a step of the tests needs: a command, a slotfuzz command, a GoogleTest program."""

import json
import os
import subprocess

from slotfuzz.paths import ROOT
from slotfuzz.subject import build

STEP_SECONDS_MAX = 1800


def run(*command, ok=(0,), variables=None):
    """Runs a command at the checkout's root; returns its stdout. A failure shows its output."""
    environment = {**os.environ, **(variables or {})}
    environment.pop("PYTHONPATH", None)
    result = subprocess.run([str(word) for word in command], cwd=ROOT, text=True, check=False,
                            capture_output=True, timeout=STEP_SECONDS_MAX, env=environment)
    tail = "\n".join((result.stdout + result.stderr).splitlines()[-40:])
    assert result.returncode in ok, f"{command} ended with {result.returncode}:\n{tail}"
    return result.stdout


def slotfuzz(*words, ok=(0,)):
    """Runs a slotfuzz command with --json; returns its document."""
    return json.loads(run(ROOT / "slotfuzz", *words, "--json", ok=ok))


def googletest(preset, name, tests="*"):
    """Builds and runs a GoogleTest program; it must have run at least one test."""
    folder = build.build(preset, [name])
    text = run(folder / name, "--gtest_brief=1", f"--gtest_filter={tests}")
    assert "[  PASSED  ]" in text and "PASSED  ] 0 tests" not in text, text
