"""The progress line of a hunt: live on a terminal, otherwise one line every ten seconds."""

import sys
import time
from collections import deque

LINE_SECONDS = 10.0


class Rate:
    """How fast a count grows: per second, over the last LINE_SECONDS."""

    def __init__(self, now=time.monotonic):
        self._now = now
        self._counts = deque([(now(), 0)])

    def of(self, count: int) -> int:
        """The rate, with COUNT as the count of this moment."""
        now = self._now()
        self._counts.append((now, count))
        while len(self._counts) > 2 and self._counts[1][0] <= now - LINE_SECONDS:
            self._counts.popleft()
        begin, former = self._counts[0]
        return max(0, round((count - former) / max(now - begin, 1e-3)))


class ProgressLine:
    """Shows a text that changes. Close it before printing anything else."""

    def __init__(self):
        self._live = None
        self._shown = time.monotonic()
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live("", console=Console(stderr=True), refresh_per_second=4,
                              transient=True)
            self._live.start()

    def show(self, text: str) -> None:
        """Replaces the line, or prints it if the last one is ten seconds old."""
        if self._live:
            from rich.text import Text

            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"))
        elif time.monotonic() - self._shown >= LINE_SECONDS:
            self._shown = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Prints a line that stays."""
        if self._live:
            self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Removes the line."""
        if self._live:
            self._live.stop()
            self._live = None
