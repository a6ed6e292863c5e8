"""Runs what a step of the tests needs: a command, a slotfuzz command, a GoogleTest program."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from slotfuzz.paths import ROOT
from slotfuzz.subject import build

STEP_SECONDS_MAX = 1800
# The processes in which the tests of one program, or the scripts of one step, run at once.
SHARDS = 2


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
    """Builds and runs a GoogleTest program in two halves; it must have run at least one test."""
    program = build.build(preset, [name]) / name
    words = [program, "--gtest_brief=1", f"--gtest_filter={tests}"]
    with ThreadPoolExecutor(SHARDS) as pool:
        halves = [pool.submit(run, *words, variables={"GTEST_TOTAL_SHARDS": str(SHARDS),
                                                      "GTEST_SHARD_INDEX": str(index)})
                  for index in range(SHARDS)]
        texts = [half.result() for half in halves]
    assert all("[  PASSED  ]" in text for text in texts), texts
    assert any("PASSED  ] 0 tests" not in text for text in texts), texts
