"""Runs the slotfuzz commands of a checkout: of this one, or of another revision.

The other revision is a git worktree under the build folder, and has its own build folder.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from slotfuzz import console
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.paths import ROOT, build_root, shown

# The exit code of a command that was asked to stop and has found nothing.
INTERRUPTED = 130
TAIL_LINES = 5


@dataclass(frozen=True)
class Answer:
    """The exit CODE of a command, and its JSON DOCUMENT."""

    code: int
    document: dict | list


class Stopped(Exception):
    """A command gave no answer, because `Checkout.stop` ended it or was called before it."""


class Checkout:
    """The slotfuzz of the checkout at ROOT. Threads may call it at the same time."""

    def __init__(self, root: Path, environment: dict[str, str] | None = None):
        self.root = root
        self._environment = {**os.environ, **(environment or {})}
        # The caller annotates the findings, so the command must not.
        self._environment.pop("GITHUB_ACTIONS", None)
        self._environment.pop("PYTHONPATH", None)
        self._running: set[subprocess.Popen] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def ask(self, *words, ok: tuple[int, ...] = (0, 1)) -> Answer:
        """Runs a command with --json; raises the command's error if its exit code is not in OK."""
        code, out, err = self.run(*words, "--json")
        try:
            document = json.loads(out)
        except ValueError:
            document = None
        error = document.get("error") if isinstance(document, dict) else None
        if self._stopped and (document is None or error):
            raise Stopped
        if code in ok and document is not None:
            return Answer(code, document)
        tail = "; ".join(err.strip().splitlines()[-TAIL_LINES:])
        problem = f"{self._said(words)}: {error or tail or 'no answer'} (exit code {code})"
        raise BrokenError(problem) if code == 3 else MachineError(problem)

    def run(self, *words) -> tuple[int, str, str]:
        """Runs a command: exit code, stdout, stderr."""
        command = [str(self.root / "slotfuzz"), *map(str, words)]
        with self._lock:
            if self._stopped:
                raise Stopped
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, errors="replace", cwd=self.root,
                                       env=self._environment)
            self._running.add(process)
        try:
            out, err = process.communicate()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        return process.returncode, out, err

    def stop(self) -> None:
        """Sends SIGINT to all running commands; later commands raise Stopped."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.send_signal(signal.SIGINT)

    def _said(self, words) -> str:
        return f"`slotfuzz {' '.join(map(str, words[:2]))}` in {shown(self.root)}"


class Base:
    """Revision COMMIT in a worktree, which is made when first needed and removed at the end.

    With KEEP it stays, and a later gate uses it again with its nearly up-to-date build.
    """

    def __init__(self, commit: str, keep: bool):
        self._commit, self._keep = commit, keep
        self._folder = build_root().resolve() / "gate" / "base"
        self._checkout: Checkout | None = None
        self._lock = threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._checkout and not self._keep:
            _git("worktree", "remove", "--force", str(self._folder))

    def checkout(self) -> Checkout:
        """Its slotfuzz. The worktree of a killed gate is used again."""
        with self._lock:
            if self._checkout is None:
                console.say(f"checking out {self._commit[:12]} in {shown(self._folder)}")
                self._make()
                self._checkout = Checkout(
                    self._folder, {"SLOTFUZZ_BUILD": str(self._folder / "build")})
            return self._checkout

    def stop(self) -> None:
        """Stops the commands that run there."""
        if self._checkout:
            self._checkout.stop()

    def _make(self) -> None:
        if (self._folder / ".git").exists():
            _git("-C", str(self._folder), "checkout", "--quiet", "--detach", "--force",
                 self._commit)
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        _git("worktree", "prune")
        _git("worktree", "add", "--quiet", "--detach", str(self._folder), self._commit)


def _git(*words: str) -> None:
    result = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True,
                            check=False)
    if result.returncode:
        problem = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise MachineError(f"git {words[0]} failed: {problem}")
