"""Compares two subjects: each program must show the same observations after each line.

Both subjects run in the same engine. If a difference has a reason, it is counted, its line is
removed, and the rest of the program is compared again. Otherwise a line where the subjects are
meant to differ would hide the lines after it. A line that raises other errors, and after which
nothing else differs, hides nothing: it stays, and the comparison goes on.
"""

import re
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.language.program import Line
from slotfuzz.measure.compared import Drawn, KeptProgress, Progress, Result, Unexplained
from slotfuzz.measure.differences import Difference, Reason, crash, differences_of
from slotfuzz.measure.vocabulary import ROUNDS_LOOKED_AT, Vocabulary
from slotfuzz.reduce import minimize
from slotfuzz.subject import registry
from slotfuzz.subject.subject import Subject

NAME = re.compile(r"[A-Za-z_][\w ]*")  # a value of an operand that is no number
TARGET = "autograd"  # the largest set of ops that needs no threads and no interpreters
# Programs per round, in one child of a server until one of them crashes.
BATCH = 256
# Torch's programs take several times as long as the core's, and each crash ends a large process.
TORCH_SERVERS = 2
# glibc then zeroes memory that it allocates, so uninitialised numbers do not differ.
ZEROS = {"MALLOC_PERTURB_": "255", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
MINIMIZE_RUNS_MAX = 600
# A check compares each subject with the contract by itself, and hunts of either find what it finds.
CHECKS = "check_"
# Programs of torch take a tenth of this; others hang, and count as those that end its process.
TORCH_SECONDS = 1


def servers(torch: Subject) -> list[Server]:
    """A server for the core and some for TORCH, in one binary, so that only the module differs."""
    core = replace(torch, name=registry.DEFAULT, versions={})
    return [Server(subject, TARGET, extra=ZEROS) for subject in (core, *[torch] * TORCH_SERVERS)]


class Pair:
    """The servers of both subjects: those of TORCH share its programs. Use as a context manager."""

    def __init__(self, core: Server, *torch: Server, reasons: Callable[[], list[Reason]]):
        self.core, self.torch, self.read_reasons = core, torch, reasons
        self.reasons = reasons()
        self.threads = ThreadPoolExecutor(1 + len(torch))
        table = torch[0].table
        self.ops = [name for name, op in self.core.table.ops.items()
                    if not op["masked"] and not table.ops[name]["masked"]
                    and not name.startswith(CHECKS)]
        # A line without operands that always differs would be in a fifth of all programs.
        self.vocabulary = Vocabulary(self.ops, {
            name: difference for name in self.ops if not table.ops[name]["operands"]
            and (difference := self._difference(table.program_text([Line(name, ())])))
            and (difference.torch is None or self.reason_for(difference))})
        self.ops = self.vocabulary.ops

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.threads.shutdown()
        for server in (self.core, *self.torch):
            server.close()

    def reason_for(self, difference: Difference) -> tuple[Reason, int] | None:
        """The first reason that explains DIFFERENCE, and the line to blame."""
        for reason in self.reasons:
            line = reason.blames(difference.signature, difference.ops)
            if line is not None:
                return reason, line
        return None

    def is_passed_over(self, difference: Difference) -> bool:
        """Whether its line hides no later one: only what it raised differs, which has a reason."""
        explained = difference.is_raised_alone and self.reason_for(difference)
        return bool(explained) and explained[1] == difference.line

    def compare(
        self, runs: int, seed: int, say: Callable[[str], None],
        show: Callable[[str], None] = lambda text: None, kept: KeptProgress | None = None,
    ) -> Result:
        """Compares RUNS random programs that both can run, or fewer if it is interrupted.

        Calls SAY with each difference without a reason, and SHOW with the progress. A reason that
        comes while it runs counts for all programs. It continues what was KEPT, unless a reason of
        then is gone or narrower.
        """
        progress = kept and kept.read()
        if not progress or not progress.holds_with(self.reasons):
            progress = Progress()
        result = progress.result
        self.vocabulary.left_out |= progress.left_out
        self.vocabulary.looked_at += progress.looked_at
        try:
            while result.programs < runs or progress.left:
                self._round(runs, seed, progress, say)
                show(f"{result.programs:,} of {runs:,} programs,"
                     f" {len(result.unexplained)} differences without a reason")
                if kept:
                    kept.write(replace(progress, left_out=self.vocabulary.left_out,
                                       looked_at=self.vocabulary.looked_at,
                                       reasons=self.reasons))
        except KeyboardInterrupt:
            return replace(result, interrupted=True)
        if kept:
            kept.remove()
        return result

    def _round(
        self, runs: int, seed: int, progress: Progress, say: Callable[[str], None],
    ) -> None:
        """Compares up to BATCH programs: what is left of others, and new ones. It forks once."""
        result = progress.result
        count = min(BATCH, runs - result.programs) - len(progress.left)
        if count > 0:
            texts = self.core.generate(
                count, seed * 1_000_003 + progress.batches, self.vocabulary.drawn)
            progress.left += [Drawn(text, text) for text in texts]
            progress.batches += 1
        now = progress.left[:BATCH]
        found = self.differences([drawn.left for drawn in now])
        if progress.batches <= ROUNDS_LOOKED_AT:
            stops = map(self._stop, found)
            self.vocabulary.leave_out([
                (stop, stop.ops if stop else self._ops_of(drawn.left))
                for drawn, stop in zip(now, stops, strict=True)], self.reason_for)
        progress.left = [*progress.left[BATCH:], *self._count(now, found, result, say),
                         *self._explained_since(result)]

    def _explained_since(self, result: Result) -> list[Drawn]:
        """The programs without a reason that have one by now; RESULT no longer counts them."""
        self.reasons = self.read_reasons()
        again = []
        for signature, one in [*result.unexplained.items()]:
            if self.reason_for(one.difference):
                del result.unexplained[signature]
                for drawn in one.programs:
                    result.count(drawn, -1)
                again += one.programs
        return again

    def _count(
        self, programs: list[Drawn], found: list[list[Difference]], result: Result,
        say: Callable[[str], None],
    ) -> list[Drawn]:
        """Counts what was FOUND in each of PROGRAMS; returns those that lost lines for a reason."""
        again = []
        for drawn, those in zip(programs, found, strict=True):
            stop = self._stop(those)
            explained = stop and self.reason_for(stop)
            passed = those[:-1] if stop else those
            if stop and stop.torch is None:
                result.crashed += 1
                continue
            drawn.reasons |= {self.reason_for(one)[0].name for one in passed}
            if explained:
                drawn.reasons.add(explained[0].name)
                again.append(_shortened(drawn, {explained[1]}))
            elif stop and passed:  # it may come from what a line before it raised
                again.append(_shortened(drawn, {one.line for one in passed}))
            else:
                result.count(drawn)
                result.alike += drawn.left == drawn.text and not those
                if stop:
                    self._note(drawn, stop, result, say)
        return again

    def differences(self, texts: list[str]) -> list[list[Difference]]:
        """The differences of each program, up to the first that is not passed over.

        Many programs share a process, and one may affect the next. So a difference without a reason
        counts only if the program also differs in a process of its own.
        """
        found = self._first(texts)
        for at, those in enumerate(found):
            stop = self._stop(those)
            if stop and stop.torch is not None and not self.reason_for(stop):
                (found[at],) = self._first([texts[at]])
        return found

    def _difference(self, text: str) -> Difference | None:
        """The difference at which the program TEXT stops, run in a process of its own."""
        return self._stop(self._first([text])[0])

    def _stop(self, those: list[Difference]) -> Difference | None:
        return those[-1] if those and not self.is_passed_over(those[-1]) else None

    def _first(self, texts: list[str]) -> list[list[Difference]]:
        """The same as `differences`, in processes that the programs share."""
        found: list[list[Difference]] = [[] for _ in texts]
        unlike = []
        for at, (ours, theirs) in enumerate(zip(*self._both("observations", texts), strict=True)):
            if ours.crashed or theirs.crashed:
                found[at] = [crash(ours, theirs, self._ops_of(texts[at]))]
            elif ours.hash != theirs.hash:
                unlike.append(at)
        traces = self._both("traces", [texts[at] for at in unlike]) if unlike else ()
        for at, ours, theirs in zip(unlike, *traces):
            if ours and theirs:
                found[at] = self._up_to_stop(differences_of(ours, theirs, self._ops_of(texts[at])))
            else:  # a server that something killed has no traces any more
                (found[at],) = self._first([texts[at]])
        return found

    def _up_to_stop(self, differences: Iterable[Difference]) -> list[Difference]:
        those = []
        for difference in differences:
            those.append(difference)
            if not self.is_passed_over(difference):
                break
        return those

    def _ops_of(self, text: str) -> list[str]:
        """The op of each line, with the name that it asks for: `node_ask saved_tensors`."""
        return [" ".join([line.op, *(
            word for index, word in enumerate(line.operands)
            if NAME.fullmatch(word) and not self.core.table.kind(line, index).prefix)])
            for line in self.core.parse(text)]

    def _both(self, question: str, texts: list[str]) -> tuple[list, list]:
        """What the servers of the core and of torch answer to TEXTS; they run in parallel."""
        # The same server always runs a text, so it also has the text's trace.
        of_text = [zlib.crc32(text.encode()) % len(self.torch) for text in texts]
        shares = [[text for text, number in zip(texts, of_text, strict=True) if number == of_server]
                  for of_server in range(len(self.torch))]
        limits = {"program_seconds": TORCH_SECONDS} if question == "observations" else {}
        core, *torch = self.threads.map(
            lambda server, share, limits: getattr(server, question)(share, **limits),
            (self.core, *self.torch), (texts, *shares), ({}, *[limits] * len(shares)))
        answers = [iter(each) for each in torch]
        return core, [next(answers[number]) for number in of_text]

    def _note(
        self, drawn: Drawn, difference: Difference, result: Result, say: Callable[[str], None],
    ) -> None:
        known = result.unexplained.get(difference.signature)
        if known:
            known.programs.append(drawn)
            return
        small = minimize.minimize(
            self.core.parse(drawn.left),
            lambda lines: self._unexplained(lines) == difference.signature,
            self.core.table, MINIMIZE_RUNS_MAX, difference.line).lines
        shown = self.core.table.program_text(small)
        again = self._difference(shown)
        is_same = again and again.signature == difference.signature  # memory that was freed varies
        one = Unexplained(again if is_same else difference, shown, [drawn])
        result.unexplained[difference.signature] = one
        say(one.sentence())

    def _unexplained(self, lines: list[Line]) -> str:
        """The signature of the first difference without a reason, or an empty string."""
        if any(line.op not in self.ops for line in lines):
            return ""
        difference = self._difference(self.core.table.program_text(lines))
        return difference.signature if difference and not self.reason_for(difference) else ""


def _shortened(drawn: Drawn, lines: set[int]) -> Drawn:
    """The program without LINES, of which one is past its end if it differs after the last."""
    kept = [one for number, one in enumerate(drawn.left.splitlines(keepends=True))
            if number not in lines]
    if len(kept) == len(drawn.left.splitlines()):
        raise BrokenError("a program without lines differs")
    drawn.left = "".join(kept)
    return drawn
