"""Signatures: kind of verdict, contract sentence and check, or the innermost functions.

A signature has no addresses, line numbers, template arguments or plumbing frames, so that a bug
has the same signature in every build and on every machine.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from slotfuzz.schema.answers import Reply

FRAMES_MAX = 3

FRAME = re.compile(
    r"^\s*#(\d+) (?:0x[0-9a-f]+ in )?(.+?) "
    r"(/?[^\s():]+:\d+(?::\d+)?|/?[^\s():]+\.(?:cc?|h)$|\(?<null>\)?|\(.*)")
ADDRESS_ERROR = re.compile(r"==\d+==\s*ERROR: (?:Address|Thread)Sanitizer:? "
                           r"(?:attempting )?([\w-]+)")
# Without a sanitizer, a bad access sends the program itself a signal: crash.h of the engine.
SIGNAL_ERROR = re.compile(r"^slotfuzz: crash: ([\w-]+)", re.MULTILINE)
THREAD_ERROR = re.compile(r"WARNING: ThreadSanitizer: ([\w -]+?) \(")
# The titles of the two stacks of a race.
THREAD_SIDE = re.compile(r"^ *((Previous )?(atomic )?(read|write) of size|"
                         r"Mutex \S+ (\(0x\w+\) )?acquired here while)", re.I | re.M)
STACK_OVERFLOW = "stack-overflow"
WATCHDOG_ERROR = re.compile(r"^slotfuzz: (deadlock|hang): ", re.MULTILINE)
# What another reporter adds when the watchdog has ended a process by SIGABRT.
ABORT_REPORT = re.compile(r"^==\d+==", re.M)
LEAK_ERROR = re.compile(r"ERROR: LeakSanitizer")
UNDEFINED_ERROR = re.compile(r"runtime error: (.*)")
FATAL_ERROR = re.compile(r"Fatal Python error: (.*)")
JUDGE_ERROR = re.compile(r"^slotfuzz: ([A-Z]\d+[a-z]? [^:\n]+): ", re.MULTILINE)
TERMINATE_ERROR = re.compile(r"^terminate called (?:after throwing.*\n\s*what\(\):\s+)?(.*)", re.M)
CHECK_WORDS = "this must hold and does not: "
CHECK_ERROR = re.compile(CHECK_WORDS + "(.*)")
FUZZER_ERROR = re.compile(r"ERROR: libFuzzer: ([\w-]+)")

PLUMBING_FUNCTION = re.compile(
    r"^(_?Py[A-Z_]|_Py|Py[A-Z]|__asan|__tsan|__ubsan|__msan|__interceptor|__sanitizer|__lsan|"
    r"fuzzer::|std::|__gnu_cxx|__cxa_|__gxx_|_Unwind_|c10::detail::torch\w*Fail|"
    r"0x[0-9a-f]+$|__libc|__GI_|_start$|main$|free$|malloc$|calloc$|"
    r"realloc$|mem(cpy|set|move|cmp)$|raise$|abort$|gsignal$|_*pthread_|__assert|slotfuzz::|"
    r"operator\b|LLVMFuzzer|pymain|run_|gc_|subtype_|type_call|slot_tp|dict_|list_|method_|"
    r"cfunction|object_|tuple|insertdict|delete_garbage|finalize_|free_keys|pybind11::)")
PLUMBING_FILE = re.compile(
    r"(harness/|compiler-rt|sanitizer_common|/Fuzzer|libpython|/Objects/|/Python/|/Modules/|"
    r"/usr/include/|/bits/|nptl/|sysdeps/|"
    r"/libc\.so|/lib/x86_64-linux-gnu/(libc\.|libpthread|ld-)|python3\.\d+\+|/targets/\w+\+)")


# A frame in a library without function names: the library and the offset in it.
NAMELESS = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ +\(\S*?([^/\s]+\+0x[0-9a-f]+)\)")

# The engine's words for the watchdog's findings.
DEADLOCK, HANG = HANGING = ("deadlock", "hang")
# What reports a finding: the first word of its verdict. The others stand where they are made.
JUDGE, SANITIZER, SIGNAL, EXCEPTION = "judge", "sanitizer", "signal", "exception"
EXIT, FATAL, CHECK = "exit", "fatal", "check"
UNDEFINED, LEAK = "undefined-behavior", "leak"


@dataclass(frozen=True)
class Signature:
    """What the REPORTER says: WHAT fails; FUNCTIONS, innermost first; DETAIL, normalised."""

    reporter: str
    what: str = ""
    functions: tuple[str, ...] = ()
    detail: str = ""

    @property
    def verdict(self) -> str:
        """The verdict as in a mutant's header, such as `sanitizer heap-use-after-free`."""
        return f"{self.reporter} {self.what}".rstrip()

    @property
    def kind(self) -> str:
        """The verdict without its reporter, such as heap-use-after-free."""
        return self.what or self.reporter

    @property
    def text(self) -> str:
        """One line; equal bugs have equal lines."""
        parts = [self.verdict]
        if self.functions:
            parts.append("in " + " < ".join(self.functions))
        if self.detail:
            parts.append(f"({self.detail})")
        return " ".join(parts)

    def identifier(self, subject: str, more: str = "") -> str:
        """Folder name in repro/: words of the verdict, the function, a hash with the subject.

        MORE is text that distinguishes the finding from others with the same signature.
        """
        words = [self.kind]
        if self.functions:
            words.append(self.functions[0].rpartition("::")[2])
        slug = re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")[:60]
        digest = hashlib.sha256(f"{subject} {self.text}{more}".encode()).hexdigest()[:6]
        return f"{slug}-{digest}"


def of_reply(reply: Reply) -> Signature:
    """The signature of a finding in a reply to `run`."""
    kind = reply.kind
    if kind == "assert":
        return Signature(JUDGE, f"{reply.contract} {reply.check}".rstrip())
    if kind == "exception":
        detail = normalise(reply.message)
        if reply.contract:
            return Signature(JUDGE, f"{reply.contract} {reply.check}".rstrip(), (), detail)
        name = re.match(r"[\w.]*", reply.message)[0] or "unknown"
        return Signature(EXCEPTION, name, detail=detail)
    if kind == HANG:
        return Signature(HANG, detail=hanging_op(reply))
    from_stderr = of_stderr(reply.stderr)
    if kind == DEADLOCK and (from_stderr is None or from_stderr.reporter == kind):
        return Signature(kind, functions=waiting_functions(one.stack for one in reply.threads))
    if from_stderr:
        return from_stderr
    if kind == "signal":
        return Signature(SIGNAL, signal_name(reply.signal))
    if kind == "exit":
        return Signature(EXIT, str(reply.exit))
    return Signature(kind, detail=normalise(reply.message))


def hanging_op(reply: Reply) -> str:
    """The op of the line that hangs, or "the end".

    The watchdog interrupts a loop at any place, so the functions on its stack vary between runs.
    """
    return "the end" if reply.is_at_end else reply.lines[reply.line].op


def of_stderr(text: str) -> Signature | None:
    """The signature of a dead process's output; None if the output has no report.

    The first report counts, because later ones often are its consequences. An abort counts last,
    because another failure always causes it.
    """
    found = [(match.start(), make(match, text[match.start():]))
             for pattern, make in REPORTS for match in [pattern.search(text)] if match]
    found.sort(key=lambda entry: (entry[1].verdict == ABORT.verdict, entry[0]))
    return found[0][1] if found else None


def functions(report: str) -> tuple[str, ...]:
    """The first functions of the first stack that are not plumbing, innermost first.

    If no frame has a function name, the result is the innermost place in a library.
    """
    names, places = _names_and_places(report)
    return tuple(names[:FRAMES_MAX] or places[:1])


def signalled_functions(report: str, signal: str) -> tuple[str, ...]:
    """The functions for a SIGNAL; for a recursion, the sorted functions that recur.

    The stack's size decides in which of them the stack overflows.
    """
    if signal != STACK_OVERFLOW:
        return functions(report)
    names, _ = _names_and_places(report)
    return tuple(sorted({name for name in names if names.count(name) > 1})[:FRAMES_MAX])


def _names_and_places(report: str) -> tuple[list[str], list[str]]:
    names, places, started = [], [], False
    for line in report.splitlines():
        nameless, match = NAMELESS.match(line), FRAME.match(line)
        if nameless and not PLUMBING_FILE.search(line):
            places.append(nameless[1])
        if not match and not nameless:
            if started:
                break
            continue
        started = True
        if match and not is_plumbing(function_name(match[2]), match[3]):
            names.append(function_name(match[2]))
    return names, places


def thread_functions(report: str) -> tuple[str, ...]:
    """The innermost function of each of the two stacks of a race or an inversion, sorted.

    Timing decides which of the two stacks a report has first.
    """
    sides = [part for part in re.split(r"\n\s*\n", report) if THREAD_SIDE.search(part)][:2]
    return tuple(sorted({name for side in sides for name in functions(side)[:1]}))


def waiting_functions(stacks: Iterable[str]) -> tuple[str, ...]:
    """The innermost function of each of STACKS, sorted, because threads have no order."""
    return tuple(sorted({name for stack in stacks for name in functions(stack)[:1]})[:FRAMES_MAX])


def _stacks_of_watchdog(report: str) -> list[str]:
    """The stacks in the watchdog's REPORT, on the stderr of a process that sent no reply."""
    return re.split(r"\n\s*\n", ABORT_REPORT.split(report)[0])


def is_plumbing(name: str, place: str) -> bool:
    """Whether a frame has no name, or belongs to a runtime, to CPython or to the harness."""
    return not name or bool(PLUMBING_FUNCTION.match(name) or PLUMBING_FILE.search(place))


def function_name(frame: str) -> str:
    """`c10::(anonymous namespace)::wrap<int>(c10::Storage*) const` becomes `c10::wrap`."""
    name = frame.replace("(anonymous namespace)::", "")
    name = re.sub(r"\[clone .*?\]|\[abi:\w+\]|\.(llvm|isra|part|cold)[.\d]*", "", name)
    name = _without_brackets(name, "(", ")").replace(" const", "")
    name = _without_brackets(name, "<", ">")
    return name.split()[-1] if name.split() and "operator" not in name else name.strip()


def _without_brackets(text: str, opening: str, closing: str) -> str:
    depth, kept = 0, []
    for letter in text:
        if letter == opening:
            depth += 1
        elif letter == closing and depth:
            depth -= 1
        elif not depth:
            kept.append(letter)
    return "".join(kept)


def normalise(message: str) -> str:
    """The message without addresses and numbers, which differ between runs."""
    text = re.sub(r"0x[0-9a-fA-F]+", "ADDRESS", message.splitlines()[0] if message else "")
    return re.sub(r"\b\d+\b", "N", text).strip()


def signal_name(number: int) -> str:
    """SIGSEGV for 11, and so on."""
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


ABORT = Signature(SANITIZER, "ABRT")
# Each reporter's pattern, and the function from the match and the text after it to a signature.
REPORTS = (
    (ADDRESS_ERROR, lambda match, text: Signature(SANITIZER, match[1], functions(text))),
    (SIGNAL_ERROR, lambda match, text: Signature(
        SIGNAL, f"SIG{match[1]}", signalled_functions(text, match[1]))),
    (THREAD_ERROR, lambda match, text: Signature(
        SANITIZER, match[1].replace(" ", "-"), thread_functions(text))),
    (WATCHDOG_ERROR, lambda match, text: Signature(match[1], functions=(
        waiting_functions(_stacks_of_watchdog(text)) if match[1] == DEADLOCK else ()))),
    (UNDEFINED_ERROR, lambda match, text: Signature(
        SANITIZER, UNDEFINED, functions(text), normalise(match[1]))),
    (LEAK_ERROR, lambda match, text: Signature(SANITIZER, LEAK, functions(text))),
    (TERMINATE_ERROR, lambda match, text: Signature(
        SIGNAL, "SIGABRT", functions(text), normalise(match[1]))),
    (FATAL_ERROR, lambda match, text: Signature(FATAL, normalise(match[1]))),
    (JUDGE_ERROR, lambda match, text: Signature(JUDGE, match[1])),
    (CHECK_ERROR, lambda match, text: Signature(CHECK, detail=normalise(match[1]))),
    (FUZZER_ERROR, lambda match, text: Signature(match[1])),
)


# Functions that count all objects: a crash in them does not point to the cause.
COUNTING = re.compile(r"^(c10::|slotcore::)*(weak_)?(intrusive_ptr|raw::|MaybeOwned)")
# Kernels fault on memory that an earlier line made invalid. Functions that fetch an object fault
# on a dangling slot.
MEETING = re.compile(r"^(at::(?!TensorBase)|c10::|libtorch_cpu)|[Ww]rap$")
# The place of an assertion of PyTorch, whose sources may assert a condition in many places. The
# text `false` names no condition, but a message may follow it.
ASSERTED_AT = re.compile(
    r'(?<!: false INTERNAL ASSERT FAILED) at "[^"]*":N'
    r'|(?<=: false INTERNAL ASSERT FAILED) at "[^"]*":N(?=, please report a bug to PyTorch\. )')


def crashing_function(words: Signature) -> str:
    """The innermost function of a crash; empty if it has no function or only counts objects."""
    return next((name for name in words.functions if not COUNTING.match(name)), "")


def meets_what_others_left(function: str) -> bool:
    """Whether FUNCTION crashes on state that any earlier line may have left behind."""
    return bool(MEETING.search(function))


def without_place(words: Signature) -> str:
    """The text of WORDS without the source location of an assertion."""
    return ASSERTED_AT.sub("", words.text)
