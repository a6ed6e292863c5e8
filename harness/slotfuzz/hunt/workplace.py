"""The working folder of a hunt: artifacts and flight recorders of each job, and suppressions.

The hunt holds a lock on the folder while it runs. The next hunt takes over the crashes of a hunt
that was killed.
"""

import fcntl
import os
import re
import shutil
import tempfile
from pathlib import Path

from slotfuzz.engine.fuzzer import artifacts
from slotfuzz.errors import MachineError
from slotfuzz.paths import build_root
from slotfuzz.subject.subject import Subject

# A file in a hunt's folder that holds the path of the folder for its findings.
OUT = "out"


def slug(subject: Subject) -> str:
    """A folder name for the subject, such as core-address."""
    return re.sub(r"[^\w.-]+", "-", f"{subject.label}-{subject.sanitizer}")


def default_corpus(subject: Subject, target: str) -> Path:
    """build/corpus/<subject>/<target>: the corpus of a hunt without --corpus."""
    return corpus_of(subject.label, target)


def corpus_of(name: str, target: str) -> Path:
    """The default corpus of the subject called NAME, which need not be built."""
    return build_root() / "corpus" / re.sub(r"[^\w.-]+", "-", name) / target


class Workplace:
    """A hunt's own folder, build/hunt/<subject>/run-*; removed once all its crashes are judged."""

    def __init__(self, subject: Subject, out: Path):
        self._parent, self._out = build_root() / "hunt" / slug(subject), str(out.absolute())
        try:
            self._parent.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._parent))
            self.suppressions = self.folder / "suppressions"
            self.suppressions.mkdir()
            self._errors: set[str] = set()
            self._lock = try_lock(self.folder)
            (self.folder / OUT).write_text(self._out)
        except OSError as error:
            raise MachineError(f"cannot write to {self._parent}: {error.strerror}") from error

    def job(self, target: str, number: int) -> Path:
        """The folder of job NUMBER on TARGET."""
        place = self.folder / f"{target}.{number}"
        place.mkdir(exist_ok=True)
        return place

    def flags(self) -> tuple[str, ...]:
        """The flags that all processes of the engine get."""
        return (f"--imports={self.folder / 'imports'}",)

    def loaded(self, target: str) -> Path:
        """The file in which processes of TARGET note what programs of the corpus did."""
        return self.folder / f"loaded-{target}"

    def keep(self, target: str, artifact: Path, number: int) -> Path:
        """Moves ARTIFACT, the program of crash NUMBER, out of its job's folder."""
        place = self.folder / f"{target}.crashes"
        place.mkdir(exist_ok=True)
        return artifact.rename(place / f"{artifact.name}-{number}")

    def suppress(self, name: str, text: str) -> None:
        """Makes processes skip programs that contain the program TEXT."""
        self._suppress(f"{name}.py", text)

    def suppress_errors(self, errors: set[str]) -> None:
        """Makes processes continue after an exception with such a message.

        ERRORS are normalised messages. Any program may raise them.
        """
        for words in errors - self._errors:
            self._suppress(f"error-{len(self._errors)}.txt", words)
            self._errors.add(words)

    def _suppress(self, name: str, text: str) -> None:
        """Writes a file that the processes read, at once or not at all."""
        part = self.folder / "suppression"
        part.write_text(text)
        part.rename(self.suppressions / name)

    def leftovers(self) -> list[tuple[str, Path]]:
        """Moves crashes that earlier hunts did not judge to this folder: (target, artifact) each.

        Only crashes of hunts with the same folder for findings are moved.
        """
        found = []
        for folder in sorted(self._parent.glob("run-*")):
            if folder == self.folder:
                continue
            lock = try_lock(folder)
            if lock is None:
                continue
            if _text(folder / OUT) != self._out and _crashes(folder):
                os.close(lock)
                continue
            for job in sorted(folder.glob("*.*")):
                target = job.name.rpartition(".")[0]
                for path in artifacts(job):
                    # The new name is an artifact's name too, since this hunt may be killed as well.
                    kept = self.job(target, 0) / f"{path.name}-left-{len(found)}"
                    shutil.move(path, kept)
                    found.append((target, kept))
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
        return found

    def close(self) -> None:
        """Removes the folder; a crash that was not judged stays for the next hunt."""
        if not _crashes(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)


def _crashes(folder: Path) -> bool:
    return any(artifacts(job) for job in folder.glob("*.*"))


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def try_lock(folder: Path) -> int | None:
    """An open lock on the folder, or None while another process holds it."""
    try:
        handle = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle
    except BlockingIOError:
        os.close(handle)
        return None
