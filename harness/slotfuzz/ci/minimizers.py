"""Runs other minimizers on crashes of a mutant, each with the same question to the same server.

The question is whether a program fails with the signature of the crash. A tool that wants a script
gets one that asks the server over a socket, so that it pays for a small process and not for the
start of a target. Hypothesis shrinks only what it has drawn itself: it begins with other programs.
"""

import json
import os
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine.fuzzer import FEATURES, INPUT_BYTES_MAX, artifacts
from slotfuzz.engine.server import Server
from slotfuzz.errors import MachineError
from slotfuzz.evidence import signature
from slotfuzz.paths import ROOT
from slotfuzz.subject import mutant, subject
from slotfuzz.triage.smallest import smallest

# A minimizer that needs longer is stopped, and its smallest program so far counts.
SECONDS_MAX = 60
HUNT_SECONDS_MAX = 60
# Asks the server over the socket argv[1] about the file argv[2], or about FILE in this folder.
FILE = "program.py"
SCRIPT = f"""#!/usr/bin/python3 -IS
import socket
import sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(%r)
    with open(sys.argv[1] if len(sys.argv) > 1 else {FILE!r}, "rb") as file:
        asked.sendall(file.read())
    asked.shutdown(socket.SHUT_WR)
    sys.exit(asked.recv(1) != b"y")
"""


@dataclass(frozen=True)
class Result:
    """The program that a minimizer ends with: its lines, and whether its signature is the same.

    RUNS counts the programs that it ran, or is None if nothing counts them; SECONDS are of wall
    time. LINES_BEFORE is the length of the program that it began with.
    """

    by: str
    lines_before: int
    lines: int
    same: bool
    runs: int | None
    seconds: float


class Crash:
    """A program of a mutant that fails, and the server that runs smaller ones."""

    def __init__(self, name: str, seed: int):
        """Takes the first crash of a search with SEED from an empty corpus."""
        self.name, self.seed = name, seed
        self.target = mutant.read_header(name).target
        self.chosen = subject.resolve(f"mutant:{name}", None, [self.target], with_python=False)
        self.text = self._hunt()
        self._server = Server(self.chosen, self.target)
        self._reply = self._server.run(self.text)
        self._wanted = signature.of_reply(self._reply)
        self.runs = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._server.close()

    def _hunt(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "corpus").mkdir()
            command = self.chosen.command(self.target, f"--recorder={place}/recorder")
            subprocess.run(
                [*command, f"-seed={self.seed}", f"-artifact_prefix={place}/", FEATURES,
                 "-detect_leaks=0", f"-max_len={INPUT_BYTES_MAX}",
                 f"-max_total_time={HUNT_SECONDS_MAX}", str(place / "corpus")],
                env=self.chosen.environment(), cwd=place, check=False, capture_output=True)
            found = artifacts(place)
            if not found:
                raise MachineError(f"{self.chosen.name} was not found in {HUNT_SECONDS_MAX} s"
                                   f" with seed {self.seed}")
            return found[0].read_text(errors="replace")

    def is_kept(self, text: str) -> bool:
        """Whether program TEXT has the signature of the crash. Counts as a run."""
        self.runs += 1
        reply = self._server.run(text)
        return reply.is_finding and signature.of_reply(reply) == self._wanted

    def lines(self, text: str) -> int:
        """The lines of TEXT that are ops; the parser drops all others."""
        return len(self._server.parse(text))

    def result(self, by: str, text: str, runs: int | None, seconds: float) -> Result:
        """The result of the minimizer BY, which ended with TEXT."""
        return Result(by, self.lines(self.text), self.lines(text), self.is_kept(text), runs,
                      round(seconds, 2))


def ours(crash: Crash) -> Result:
    """The minimizer of a hunt."""
    begin = time.monotonic()
    with Server(crash.chosen, crash.target) as server, \
            Server(crash.chosen, crash.target, symbols=False) as quick:
        best = smallest(server, quick, crash.text).minimized
        text = server.table.program_text(best.lines)
    return crash.result("slotfuzz", text, best.tried, time.monotonic() - begin)


def by_command(by: str, command: Callable[[Path], list[str]]) -> Callable[[Crash], Result]:
    """A tool that edits FILE in its folder. COMMAND gets the script that answers by exit code."""
    def run(crash: Crash) -> Result:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / FILE).write_text(crash.text)
            script = place / "is_kept"
            script.write_text(SCRIPT % str(place / "socket"))
            script.chmod(0o755)
            before, begin = crash.runs, time.monotonic()
            with _answering(place / "socket", crash):
                _run(command(script), place)
            return crash.result(by, (place / FILE).read_text(errors="replace"),
                                crash.runs - before, time.monotonic() - begin)
    return run


def libfuzzer(crash: Crash) -> Result:
    """libFuzzer's -minimize_crash with our mutators. It keeps any crash, and runs nobody counts."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / FILE).write_text(crash.text)
        begin = time.monotonic()
        # The limit is that of each of its processes; it starts one after each smaller crash.
        _run([*crash.chosen.command(crash.target), "-minimize_crash=1", f"-seed={crash.seed}",
              f"-max_total_time={SECONDS_MAX}", f"-artifact_prefix={place}/", str(place / FILE)],
             place, crash.chosen.environment())
        seconds = time.monotonic() - begin
        kept = [path.read_text(errors="replace") for path in place.glob("minimized-from-*")]
        return crash.result("libFuzzer", min([crash.text, *kept], key=len), None, seconds)


def hypothesis(crash: Crash) -> Result:
    """What the state machine of slotfuzz.stateful finds by itself and shrinks."""
    said = subprocess.run(
        [sys.executable, "-m", "slotfuzz.scripts.shrunk", crash.name, str(crash.seed),
         str(SECONDS_MAX)], check=True, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "harness")}).stdout
    found = json.loads(said.splitlines()[-1])
    if not found:
        raise MachineError(f"Hypothesis did not find {crash.name} in {SECONDS_MAX} s")
    return Result(by="Hypothesis", same=True, **found)


MINIMIZERS = (
    ours,
    by_command("ddmin (Debian's delta)", lambda script: [
        "singledelta", f"-test={script}", "-suffix=.py", "-in_place", "-quiet", FILE]),
    by_command("C-Vise", lambda script: [
        "cvise", "--not-c", "--n", "1", "--tidy", str(script), FILE]),
    libfuzzer,
    hypothesis,
)


def check_tools() -> None:
    """MachineError if this machine lacks a minimizer."""
    for tool, package in (("singledelta", "delta"), ("cvise", "cvise")):
        if not shutil.which(tool):
            raise MachineError(f"{tool} is missing; run: apt-get install -y {package}")


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Runs COMMAND in FOLDER, and stops it with its children after SECONDS_MAX."""
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, env=environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


class _answering:
    """Answers the script of by_command while the block runs."""

    def __init__(self, path: Path, crash: Crash):
        class Handler(socketserver.StreamRequestHandler):
            """One question: a program up to the end of the stream."""

            def handle(self):
                text = self.rfile.read().decode(errors="replace")
                self.wfile.write(b"y" if crash.is_kept(text) else b"n")

        self._server = socketserver.UnixStreamServer(str(path), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *error):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
