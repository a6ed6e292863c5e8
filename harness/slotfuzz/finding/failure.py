"""How a script fails: the failure that it states, as a regular expression for what a run prints."""

import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass

from slotfuzz.evidence import signature
from slotfuzz.schema.answers import Reply

# Findings whose script hangs, and the first words of faulthandler's report of a hang.
HANGS = ("timeout", *signature.HANGING)
HANG_WORDS = "Timeout ("
# Signals of a process that has damaged its memory, or whose runtime has noticed the damage.
DEADLY = ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGTRAP")
SOURCE_PLACE = re.compile('FAILED at "[^"]*"')
# What AddressSanitizer says of memory that a program has damaged.
DAMAGES = ("heap-use-after-free", "heap-buffer-overflow", "SEGV")
DAMAGE_REPORT = re.compile(rf"ERROR: AddressSanitizer:? ({'|'.join(DAMAGES)})")


@dataclass(frozen=True)
class Manner:
    """How a script fails outside of the engine.

    By which SIGNALS, in which ENVIRONMENT, and with which REPORTS of AddressSanitizer.

    Memory that a program has damaged may end a process by another signal than that in the engine,
    or with another report: freed memory that was given out again is no longer poisoned.
    ENVIRONMENT has the variables without which the script never fails.
    """

    signals: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    reports: tuple[str, ...] = ()


AS_IN_THE_ENGINE = Manner()


def stated(reply: Reply, manner: Manner = AS_IN_THE_ENGINE) -> str:
    """The failure of REPLY as a regular expression for the output of a run of its script.

    The output's last line is `exit code N` or `killed by NAME`; see `ending`. MANNER is that of its
    runs. A finding by the judge may damage memory, so that the process dies before an assert line:
    only then does the script state a signal, too.
    """
    signals = manner.signals
    if reply.kind in HANGS:
        return "^" + re.escape(HANG_WORDS)
    if reply.is_of_judge:
        return "|".join([_judged(reply), *([_killed(signals)] if signals else [])])
    words = signature.of_reply(reply)
    if words.reporter == signature.SIGNAL:
        # A stack overflow ends a process without the engine by SIGSEGV.
        own = signature.signal_name(reply.signal) if reply.signal else words.what
        return _killed(signals or (own if own in DEADLY else "SIGSEGV",))
    if words.what == signature.UNDEFINED:
        own = "runtime error: " + _pattern(words.detail)
        return "|".join([own, *([_reported(manner.reports)] if manner.reports else [])])
    if words.reporter == signature.SANITIZER:
        return _reported(manner.reports or ("" if words.what == signature.LEAK else words.what,))
    if words.reporter == signature.FATAL:
        return "Fatal Python error: " + _pattern(words.what)
    if words.reporter == signature.CHECK:
        return signature.CHECK_WORDS + _pattern(words.detail)
    if words.reporter == signature.EXIT:
        return rf"^exit code {reply.exit}$"
    return _pattern(words.verdict)


def damage_reports(outputs: Iterable[str], reply: Reply) -> tuple[str, ...]:
    """AddressSanitizer's reports of damaged memory in OUTPUTS that a script of REPLY may state.

    Empty unless REPLY is a report of a sanitizer on such memory, and another one is in OUTPUTS.
    Where UndefinedBehaviorSanitizer refuses a value that was read from memory that is in use again,
    AddressSanitizer reports the read if the memory is still free.
    """
    what = signature.of_reply(reply).what
    found = {match[1] for text in outputs if (match := DAMAGE_REPORT.search(text))}
    if what not in (*DAMAGES, signature.UNDEFINED) or not found - {what}:
        return ()
    return tuple(one for one in DAMAGES if one in found)


def deadly_signals(codes: Iterable[int | None], reply: Reply) -> tuple[str, ...]:
    """The names of the signals in exit CODES that a script of REPLY may state."""
    may_die = reply.is_of_judge or signature.of_reply(reply).reporter == signature.SIGNAL
    names = {ending(code).rpartition(" ")[2] for code in codes if code} if may_die else ()
    return tuple(name for name in DEADLY if name in names)


def _killed(signals: tuple[str, ...]) -> str:
    names = signals[0] if len(signals) == 1 else f"(?:{'|'.join(signals)})"
    return f"^killed by {names}$"


def _reported(whats: tuple[str, ...]) -> str:
    """The first line of a sanitizer's report of one of WHATS."""
    what = "|".join("[ -]".join(one.split("-")) for one in whats)
    what = what if len(whats) == 1 else f"(?:{what})"
    return rf"(?:ERROR|WARNING): \w+Sanitizer:? (?:attempting )?{what}"


def _judged(reply: Reply) -> str:
    """The assert line that fails, or the exception that is raised."""
    asserts = [line for line in reply.asserts if line.startswith("assert ")]
    if asserts:
        # CPython 3.13 and later mark the failing part on an extra line.
        return rf"^ +(?:{'|'.join(map(_literally, asserts))})\n(?: +[~^]+\n)?AssertionError"
    if reply.kind == "assert":
        return "^AssertionError"
    message = _pattern(signature.normalise(reply.message).rstrip(": "))
    # Another build of the same release has its sources in another folder.
    return r"^(?:[\w.]+\.)?" + SOURCE_PLACE.sub(SOURCE_PLACE.pattern, message)


def ending(code: int) -> str:
    """The end of a process in CHECK's words; a shell reports a signal N as exit code 128 + N."""
    number = -code if code < 0 else code - 128
    try:
        return f"killed by {signal.Signals(number).name}"
    except ValueError:
        return f"exit code {code}"


def _pattern(words: str) -> str:
    """A regular expression for WORDS, a text by signature.normalise."""
    pattern = re.sub(r"\bN\b", r"(?:N|\\d+)", _literally(words))
    return pattern.replace("ADDRESS", r"(?:ADDRESS|0x\w+)")


def _literally(words: str) -> str:
    """re.escape, except for spaces, because people read the result."""
    return re.escape(words).replace(r"\ ", " ")
