"""The crashes of a hunt that wait for a verdict of triage, which judges them in threads."""

from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path

from slotfuzz.hunt.workplace import Workplace
from slotfuzz.triage.crash import Crash
from slotfuzz.triage.triage import Triage


@dataclass(frozen=True)
class Waiting:
    """A crash whose program is in the file ARTIFACT, and whose report has the signature WORDS.

    VERDICT becomes what `Triage.judge` returns or raises.
    """

    words: str
    artifact: Path
    recorder: Path | None
    verdict: Future


class Verdicts:
    """The waiting crashes, in the order in which the hunt met them."""

    def __init__(self, pool: Executor, triage: Triage, place: Workplace):
        self.waiting: list[Waiting] = []
        self.pool, self._triage, self._place = pool, triage, place
        self._count = 0

    def ask(self, artifact: Path, found: Crash, words: str) -> Waiting:
        """Has FOUND judged; its files move to a place where no job removes them."""
        self._count += 1
        kept = self._place.keep(found.target, artifact, self._count)
        recorder = found.recorder
        if recorder and recorder.exists():
            recorder = recorder.rename(kept.with_name(f"recorder-{self._count}"))
        found = replace(found, recorder=recorder)
        one = Waiting(words, kept, recorder, self.pool.submit(self._triage.judge, found))
        self.waiting.append(one)
        return one

    def of_words(self, words: str) -> Waiting | None:
        """The crash with the signature WORDS that waits, if there is one."""
        return next((one for one in self.waiting if words and one.words == words), None)

    def take(self, one: Waiting) -> None:
        """ONE waits no longer, because its verdict is about to be read."""
        self.waiting.remove(one)

    def give_up(self) -> None:
        """Drops the crashes that no thread judges yet; their programs stay for the next hunt."""
        for one in list(self.waiting):
            if one.verdict.cancel():
                self.waiting.remove(one)

    @staticmethod
    def forget(one: Waiting) -> None:
        """Removes the files of ONE, which has its verdict."""
        one.artifact.unlink()
        if one.recorder:
            one.recorder.unlink(missing_ok=True)
