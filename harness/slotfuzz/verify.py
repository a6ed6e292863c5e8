"""Runs a script in fresh processes and says how often it failed, with the Wilson lower bound.

Importing torch takes a hundred times as long as a script. So the first run is a new interpreter,
and the others are forked from one that has imported the module and done nothing else.
"""

import math
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from slotfuzz import emit, signature
from slotfuzz.paths import from_root

RUN_SECONDS = 60
# Runs the script argv[1] so many times, each in a process of its own; prints how each one ended.
# The script's names are those of __main__, as if it had been started. When it is over nothing is
# left to see, and to end an interpreter that has torch would take a second.
FORKING = """
import os, signal, sys
path, module, runs, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
__import__(module)
for number in range(runs):
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        os.dup2(os.open(f"{path}.{number}", os.O_WRONLY | os.O_CREAT, 0o600), 2)
        os.dup2(2, 1)
        sys.argv[:] = [path]
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
code = 1
try:
    exec(compile(open(path).read(), path, "exec"))
    code = 0
except SystemExit as end:
    code = int(end.code or 0)
except BaseException as error:
    sys.excepthook(type(error), error, error.__traceback__)
sys.stderr.flush()
os._exit(code)
"""
Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Verified:
    """FAILED of RUNS fresh processes failed; REPORT is what the first that failed wrote."""

    runs: int
    failed: int
    report: str

    @property
    def rate(self) -> float:
        """Share of the runs that failed, 0 to 1."""
        return self.failed / self.runs if self.runs else 0.0

    @property
    def rate_low(self) -> float:
        """Lower end of the 95 % Wilson interval of the rate."""
        return wilson_low(self.failed, self.runs)


def wilson_low(hits: int, runs: int) -> float:
    """Lower bound of the Wilson score interval at 95 % (E. B. Wilson, JASA 22, 1927)."""
    if runs == 0:
        return 0.0
    share, z2 = hits / runs, Z_95 * Z_95
    centre = share + z2 / (2 * runs)
    spread = Z_95 * math.sqrt(share * (1 - share) / runs + z2 / (4 * runs * runs))
    return max(0.0, (centre - spread) / (1 + z2 / runs))


def verify(
    command: list[str], folder: Path, environment: dict[str, str], runs: int, reply: dict,
    jobs: int = 2, imported: str = "",
) -> Verified:
    """Runs COMMAND, a script in FOLDER, RUNS times; a run counts if it fails like REPLY.

    All but the first are forked from an interpreter that has the module IMPORTED, if one is named.
    """
    hangs = reply["kind"] in ("timeout", *signature.HANGING)
    forked = runs - 1 if imported and runs and not hangs else 0

    def once(number):
        try:
            result = subprocess.run(command, capture_output=True, check=False,
                                    env=environment if number == 0 else _terse(environment),
                                    timeout=RUN_SECONDS)
            text = result.stderr.decode(errors="replace")
            return result.returncode, from_root(text.replace(f"{folder}/", ""))
        except subprocess.TimeoutExpired as error:
            return None, (error.stderr or b"").decode(errors="replace")

    with ThreadPoolExecutor(jobs) as pool:
        ends = list(pool.map(once, range(runs - forked)))
    if forked:
        ends += _forked(command, folder, _terse(environment), forked, imported)
    hits = [text for code, text in ends if fails_alike(code, text, reply)]
    return Verified(runs, len(hits), hits[0] if hits else (ends[0][1] if ends else ""))


def _forked(
    command: list[str], folder: Path, environment: dict[str, str], runs: int, module: str,
) -> list[tuple[int | None, str]]:
    """How RUNS runs of the script that COMMAND ends with ended, and what they wrote."""
    *python, script = command
    words = [*python, "-c", FORKING, script, module, str(runs), str(RUN_SECONDS)]
    told = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False, env=environment).stdout
    ends = []
    for number, code in enumerate(map(int, told.split())):
        path = Path(f"{script}.{number}")
        text = path.read_text(errors="replace") if path.exists() else ""
        ends.append((None if code == -signal.SIGALRM else code,
                     from_root(text.replace(f"{folder}/", ""))))
    return ends


def _terse(environment: dict[str, str]) -> dict[str, str]:
    """ENVIRONMENT with sanitizers that name no functions: nobody reads more than one report.

    The symbolizer reads libpython's debug information each time, which is two thirds of a run.
    """
    changed = dict(environment)
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        changed[name] = ":".join(filter(None, [environment.get(name), "symbolize=0"]))
    return changed


def fails_alike(code: int | None, stderr: str, reply: dict) -> bool:
    """Whether exit CODE (None: it hung) and STDERR of a script are the failure of REPLY."""
    if reply["kind"] == "timeout":
        return code is None
    if reply["kind"] in signature.HANGING:
        return code == emit.HANG_EXIT and emit.HANG_WORDS in stderr
    if code in (None, 0):
        return False
    if reply["kind"] == "assert" or reply.get("asserts"):
        return "AssertionError" in stderr
    if reply["kind"] == "exception":
        # The prelude's own asserts begin with their contract number.
        name = reply["message"].partition(":")[0]
        return (f"{name}: {reply['contract']}: " if reply["contract"] else name) in stderr
    expected = signature.of_reply(reply).verdict
    if expected == f"exit {reply['exit']}":
        return code == reply["exit"]
    if expected.startswith("signal "):
        return code < 0 or code > 128 or signature.of_stderr(stderr) is not None
    found = signature.of_stderr(stderr)
    return found is not None and found.verdict == expected
