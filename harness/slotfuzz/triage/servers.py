"""The warm servers of triage: one for each thread, target and purpose."""

import threading

from slotfuzz.engine.kills import Kills
from slotfuzz.engine.server import Server
from slotfuzz.subject.subject import Subject


class Servers:
    """Starts the servers of SUBJECT as threads ask for them; KILLS counts processes that died.

    They get the flags WORDS.
    """

    def __init__(self, subject: Subject, kills: Kills, words: tuple[str, ...] = ()):
        self._subject, self._kills, self._words = subject, kills, words
        self._servers: dict[tuple[int, str, bool, bool], Server] = {}
        # Guards both: kill() must not miss a server that is being started.
        self._lock = threading.Lock()
        self._is_killed = False

    def of(self, target: str, trace: bool = False, symbols: bool = True) -> Server:
        """The calling thread's server of TARGET; with TRACE, the core prints its trace points."""
        # Without a sanitizer's report, one server serves both purposes.
        symbols |= not self._subject.watch.names_functions
        key = (threading.get_ident(), target, trace, symbols)
        if key not in self._servers:
            server = Server(self._subject, target, trace, symbols, kills=self._kills,
                            words=self._words)
            with self._lock:
                self._servers[key] = server
                is_killed = self._is_killed
            if is_killed:
                server.kill()
        return self._servers[key]

    def close(self) -> None:
        """Ends the servers."""
        for server in list(self._servers.values()):
            server.close()

    def kill(self) -> None:
        """Ends the servers at once, and those that start later.

        A thread may be waiting for an answer; close() would block until the server has answered.
        """
        with self._lock:
            self._is_killed = True
            servers = list(self._servers.values())
        for server in servers:
            server.kill()
