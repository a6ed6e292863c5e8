"""Work on a corpus folder: distil it, replay it in shuffled orders, rewrite its programs."""

import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from slotfuzz.engine.channel import leashed
from slotfuzz.engine.fuzzer import FEATURES, INPUT_BYTES_MAX
from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.finding import finding
from slotfuzz.hunt.workplace import try_lock
from slotfuzz.subject.subject import Subject

INITED = re.compile(r"^#\d+\s+INITED (cov: \d+ ft: \d+)", re.MULTILINE)
SEEDS = (1, 2, 3)
# libFuzzer names an entry of a corpus by the SHA-1 of its text.
ENTRY = re.compile(r"[0-9a-f]{40}")
# Folders of a merge, in a folder beside the corpus: the new corpus, and the one that it replaces.
NEW, OLD = "new", "old"


class Growing:
    """The corpus FOLDER of a hunt. Each fuzzing process first runs all of it.

    A process keeps the programs that add features. The programs that it does not keep are removed,
    except those that were there before the hunt.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self.drop_torn()
        self._kept = self._names()
        self._round = 0

    def drop_torn(self) -> None:
        """Removes empty entries, which a killed process has created and not written.

        libFuzzer writes an entry with one call. Call this while no process of the hunt runs.
        """
        for name in self._names():
            if ENTRY.fullmatch(name) and (self._folder / name).stat().st_size == 0:
                (self._folder / name).unlink()

    def about_to_load(self) -> tuple[int, set[str]]:
        """The entries that a process started now will load; pass the result to `ended`."""
        return self._round, self._names() - self._kept

    def ended(self, loads: tuple[int, set[str]], used: set[str]) -> None:
        """Removes entries that a process has loaded and not USED.

        Two processes that run at the same time may keep different programs for one feature. The
        first that ends decides.
        """
        number, names = loads
        if number != self._round:
            return
        self._round += 1
        for name in names - used:
            (self._folder / name).unlink(missing_ok=True)

    def _names(self) -> set[str]:
        return set(os.listdir(self._folder)) if self._folder.is_dir() else set()


def merge(subject: Subject, target: str, folder: Path, sources: list[Path]) -> tuple[int, int]:
    """Leaves in FOLDER the smallest part of FOLDER and SOURCES that has all features.

    Returns the numbers of files before and after. Merging writes the new corpus to a folder beside
    the old one and then renames it. An interrupt leaves the old corpus or the new one and removes
    the folder beside it. After a kill, `clear_up` removes that folder.
    """
    folder = folder.resolve()
    before = sum(1 for path in folder.iterdir() if path.is_file())
    place = Path(tempfile.mkdtemp(prefix=_beside(folder), dir=folder.parent))
    lock, made = try_lock(place), place / NEW
    try:
        made.mkdir()
        result = _run(subject, target, ["-merge=1", str(made), str(folder), *map(str, sources)])
        if result.returncode != 0:
            raise BrokenError("merge failed: " + "; ".join(_tail(result)))
        after = sum(1 for _ in made.iterdir())
        os.rename(folder, place / OLD)
        os.rename(made, folder)
    finally:
        _remove(place, folder)
        os.close(lock)
    return before, after


def _beside(folder: Path) -> str:
    return f".{folder.name}-merge-"


def _remove(place: Path, folder: Path) -> None:
    """Removes PLACE, the folder of a merge. If FOLDER is gone, first puts the old corpus back."""
    if not folder.exists() and (place / OLD).exists():
        os.rename(place / OLD, folder)
    shutil.rmtree(place, ignore_errors=True)


def clear_up(folder: Path) -> None:
    """Removes the folders of killed merges of FOLDER, and puts its corpus back if it is gone."""
    folder = folder.absolute()
    for place in folder.parent.glob(f"{_beside(folder)}*"):
        if (lock := try_lock(place)) is not None:
            _remove(place, folder)
            os.close(lock)


def timed_programs(server: Server, folder: Path) -> frozenset[str]:
    """The names of the programs of FOLDER whose features depend on when other threads run."""
    ops = server.table.ops
    return frozenset(
        path.name for path in folder.iterdir() if path.is_file()
        and any(line.lane or ops[line.op]["timed"]
                for line in server.parse(path.read_bytes().decode(errors="replace"))))


def replay_without(
    subject: Subject, target: str, folder: Path, left_out: frozenset[str],
) -> list[dict]:
    """Like replay_shuffled, without the programs LEFT_OUT. Empty if none remains."""
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as scratch:
        for path in folder.iterdir():
            if path.is_file() and path.name not in left_out:
                shutil.copy(path, scratch)
        remains = any(Path(scratch).iterdir())
        return replay_shuffled(subject, target, Path(scratch)) if remains else []


def replay_shuffled(
    subject: Subject, target: str, folder: Path, seeds: tuple[int, ...] = SEEDS,
) -> list[dict]:
    """Replays FOLDER once per seed, each in another order: exit code and features reached."""
    def replayed(seed: int) -> dict:
        result = _run(subject, target, [f"-seed={seed}", "-shuffle=1", "-runs=0", str(folder)])
        text = result.stderr.decode(errors="replace")
        match = INITED.search(text)
        if not match and result.returncode == 0:
            raise BrokenError("libFuzzer printed no coverage: " + "; ".join(_tail(result)))
        return {"seed": seed, "exit": result.returncode,
                "words": match[1] if match else "; ".join(_tail(result))}

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(replayed, seeds))


def format_folder(server: Server, folder: Path) -> tuple[list[str], int]:
    """Rewrites every program of FOLDER; names of changed files, and a count of dropped lines.

    Comments at the top are kept, since people read seeds.
    """
    changed, dropped_all = [], 0
    for path in sorted(folder.iterdir()):
        if not path.is_file():
            continue
        text = path.read_bytes().decode(errors="replace")
        comment = "".join(line for line in _head(text))
        lines, dropped = server.parse_counted(text)
        dropped_all += max(0, dropped - comment.count("\n"))
        wanted = comment + server.table.program_text(lines)
        if wanted != text:
            finding.write_file(path, wanted)
            changed.append(path.name)
    return changed, dropped_all


def _head(text: str):
    for line in text.splitlines(keepends=True):
        if not line.startswith("#"):
            return
        yield line


def _run(subject: Subject, target: str, words: list[str]) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as scratch:
        command = [*subject.command(target), "-detect_leaks=0",
                   f"-max_len={INPUT_BYTES_MAX}", FEATURES, f"-artifact_prefix={scratch}/",
                   *words]
        return subprocess.run(leashed(command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env=subject.environment(), check=False)


def _tail(result: subprocess.CompletedProcess) -> list[str]:
    return result.stderr.decode(errors="replace").strip().splitlines()[-3:]
