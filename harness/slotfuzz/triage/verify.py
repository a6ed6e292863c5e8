"""Runs a script in fresh processes; counts failures, with the Wilson lower bound of their rate.

Importing torch takes a hundred times as long as a script. So only the first run is a new
interpreter; the others are forks of one that has imported what the script imports, and done nothing
else.
"""

import math
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from slotfuzz.engine.kills import Kills, is_outside, run
from slotfuzz.errors import KilledError
from slotfuzz.finding import failure
from slotfuzz.paths import from_root
from slotfuzz.schema.answers import Reply
from slotfuzz.subject.subject import POISON_ENVIRONMENT, Subject

RUN_SECONDS = 60
SCRIPT = "a run of the script"
# Each input line is a number and a path: this runs the script so many times, each in a new fork,
# and prints how each one ended. The script's globals are those of __main__, as in a normal start.
# gc.freeze() hides the module's objects from collections in a script.
# A failed run exits at once: finalizing an interpreter with torch takes a second, and may fail.
# The number 0 runs the script once, imports what it imported, also on its way to a crash, and
# prints 0: what torch imports late, such as torch._dynamo, takes longer than the script each time.
FORKING = """
import contextlib, gc, os, signal, sys
module, seconds = sys.argv[1], int(sys.argv[2])
def load(names):
    for name in names:
        with contextlib.suppress(ImportError), contextlib.redirect_stdout(sys.stderr):
            __import__(name)
    gc.collect()
    gc.freeze()
def fork(path, output):
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        os.dup2(2, 1)
        sys.argv[:], sys.path[0] = [path], os.path.dirname(path)
    return child
def learn(path):
    child = fork(path, os.devnull)
    if not child:
        names = open(path + ".imports", "w")
        sys.addaudithook(lambda event, words: event == "import" and print(
            words[0], file=names, flush=True))
        return True
    os.waitpid(child, 0)
    load(open(path + ".imports").read().split())
    print(0, flush=True)
def repeat(runs, path):
    for number in range(runs):
        child = fork(path, f"{path}.{number}")
        if not child:
            return True
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
__import__(module)
load([])
for line in sys.stdin:
    runs, path = line.rstrip("\\n").split(" ", 1)
    if repeat(int(runs), path) if int(runs) else learn(path):
        break
else:
    sys.exit()
try:
    exec(compile(open(path).read(), path, "exec"))
except Exception as error:
    sys.excepthook(type(error), error, error.__traceback__)
    sys.stderr.flush()
    os._exit(1)
"""
Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Verified:
    """FAILED of RUNS fresh processes failed; REPORT is the output of the first failure.

    MANNER says how they failed.
    """

    runs: int
    failed: int
    report: str
    manner: failure.Manner = failure.AS_IN_THE_ENGINE

    @property
    def rate(self) -> float:
        """Fraction of the runs that failed, 0 to 1."""
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


class Forker:
    """An interpreter that has imported MODULE, and forks for each run; PYTHON is its command.

    It serves one thread at a time. A fork has MODULE and what scripts have imported before.
    """

    def __init__(self, python: list[str], module: str, environment: dict[str, str]):
        self._command = [*python, "-c", FORKING, module, str(RUN_SECONDS)]
        self._environment = _terse(environment)
        self._lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=self._environment)

    def runs(self, script: Path, count: int) -> list[tuple[int | None, str]]:
        """Exit codes (None: the run hung) and outputs of COUNT runs of SCRIPT.

        The list is shorter if the interpreter has died: the other runs are unknown. KilledError if
        something outside has killed the interpreter or a run.
        """
        with self._lock:
            ends = self._runs(script, count)
            if len(ends) < count and is_outside(self._process.wait()):
                self._start()
                raise KilledError("the interpreter that forks for scripts")
            if any(is_outside(code) for code, _ in ends):
                raise KilledError(SCRIPT)
            return ends

    def learn(self, script: Path) -> None:
        """Imports what SCRIPT imports: its later runs need not.

        An import that ends the interpreter is forgotten. KilledError if something outside has
        killed it.
        """
        with self._lock:
            if self._ask(0, script) and self._process.stdout.readline():
                return
            killed = is_outside(self._process.wait())
            self._start()
            if killed:
                raise KilledError("the interpreter that forks for scripts")

    def _ask(self, count: int, script: Path) -> bool:
        """Sends a line of FORKING's input; false if the interpreter has died."""
        try:
            self._process.stdin.write(f"{count} {script}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def _runs(self, script: Path, count: int) -> list[tuple[int | None, str]]:
        ends = []
        if not self._ask(count, script):
            return ends
        for number in range(count):
            word = self._process.stdout.readline()
            if not word:
                break
            path = Path(f"{script}.{number}")
            text = path.read_text(errors="replace") if path.exists() else ""
            code = int(word)
            ends.append((None if code == -signal.SIGALRM else code, text))
        return ends

    def kill(self) -> None:
        """Ends the interpreter at once, while a run may go on; its alarm ends that."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """Ends the interpreter after its run."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def verify(
    command: list[str], folder: Path, environment: dict[str, str], runs: int, reply: Reply,
    jobs: int = 2, forker: Forker | None = None, kills: Kills | None = None,
) -> Verified:
    """Runs COMMAND, a script in FOLDER, RUNS times; a run counts if it fails like REPLY.

    It repeats runs that something outside has killed; KILLS counts them. FORKER makes all runs but
    the first. A script that hangs states its own time limit.
    """
    hangs = reply.kind in failure.HANGS
    forked = runs - 1 if forker and runs and not hangs else 0
    kills = kills or Kills()

    def once(number):
        return kills.repeat(lambda: fresh_run(
            command, environment if number == 0 else _terse(environment)))

    with ThreadPoolExecutor(jobs) as pool:
        ends = list(pool.map(once, range(runs - forked)))
    if forked:
        kills.repeat(lambda: forker.learn(Path(command[-1])))
        ends += kills.repeat(lambda: forker.runs(Path(command[-1]), forked))
        if _hits(ends[:1], reply) and not _hits(ends[1:], reply):
            # A fork has another heap than an interpreter that runs nothing but the script.
            ends[1:] = map(once, range(1, runs))
    ends = [(code, from_root(text.replace(f"{folder}/", ""))) for code, text in ends]
    hits = _hits(ends, reply)
    return Verified(runs, len(hits), hits[0] if hits else (ends[0][1] if ends else ""),
                    _manner(ends, reply))


def _hits(ends: list[tuple[int | None, str]], reply: Reply) -> list[str]:
    """The outputs of those runs among ENDS that failed like REPLY."""
    manner = _manner(ends, reply)
    return [text for code, text in ends if fails_alike(code, text, reply, manner)]


def _manner(ends: list[tuple[int | None, str]], reply: Reply) -> failure.Manner:
    return failure.Manner(failure.deadly_signals((code for code, _ in ends), reply),
                       reports=failure.damage_reports((text for _, text in ends), reply))


def by_itself(subject: Subject, once: Callable[[dict[str, str]], Verified]) -> Verified:
    """The result of ONCE in the environment of a user of SUBJECT.

    If no run fails there, freed memory may look alive: then the result with memory overwritten, if
    any of those runs fails.
    """
    verified = once(subject.plain_environment())
    if verified.failed or not subject.watch.poisons_freed_memory:
        return verified
    poisoned = once(subject.script_environment())
    if not poisoned.failed:
        return verified
    manner = replace(poisoned.manner, environment=tuple(POISON_ENVIRONMENT.items()))
    return replace(poisoned, manner=manner)


def fresh_run(command: list[str], environment: dict[str, str]) -> tuple[int | None, str]:
    """Exit code (None: it hung) and output of COMMAND, a script, in a new process.

    KilledError if something outside has killed it.
    """
    try:
        result = run(SCRIPT, command, capture_output=True, timeout=RUN_SECONDS, env=environment)
        return result.returncode, result.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired as error:
        return None, (error.stderr or b"").decode(errors="replace")


def _terse(environment: dict[str, str]) -> dict[str, str]:
    """ENVIRONMENT with sanitizers that name no functions, because one full report is enough.

    The symbolizer reads libpython's debug information each time, which takes two thirds of a run.
    """
    changed = dict(environment)
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        changed[name] = ":".join(filter(None, [environment.get(name), "symbolize=0"]))
    return changed


def fails_alike(
    code: int | None, stderr: str, reply: Reply, manner: failure.Manner = failure.AS_IN_THE_ENGINE,
) -> bool:
    """Whether exit CODE (None: it hung) and STDERR of a script match the failure that it states.

    MANNER has what it states instead of the signal or the report in REPLY.
    """
    return fails_as(failure.stated(reply, manner), code, stderr)


def fails_as(stated: str, code: int | None, stderr: str) -> bool:
    """Whether exit CODE and STDERR of a script match the regular expression STATED."""
    words = f"{stderr}\n{failure.ending(code)}" if code else ""
    return bool(code) and bool(re.search(stated, words, re.MULTILINE))
