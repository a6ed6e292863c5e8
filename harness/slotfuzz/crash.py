"""In which function of the library a script crashes, where no sanitizer says so.

The script runs once more under a signal handler that prints the C stack. It has a file of its own,
because a torch without debug information still names what it exports.
"""

import re
import subprocess
from pathlib import Path

from slotfuzz.subject import Subject

SECONDS_MAX = 60
FRAMES_MAX = 64
# A handler in Python suffices: whoever crashes in a program's line holds the GIL. What cannot be
# told that way, such as a stack that overflows, has no stack.
HANDLER = f"""\
import ctypes, runpy, signal, sys
libc = ctypes.CDLL(None)
frames = (ctypes.c_void_p * {FRAMES_MAX})()
@ctypes.CFUNCTYPE(None, ctypes.c_int)
def tell(number):
    libc.backtrace_symbols_fd(frames, libc.backtrace(frames, {FRAMES_MAX}), 2)
    libc._exit(128 + number)
libc.backtrace(frames, 1)  # loads what it needs, now that memory is whole
__import__(sys.argv[1])  # may set handlers of its own
for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL"):
    libc.signal(int(getattr(signal, name)), tell)
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
FRAME = re.compile(r"^(/\S+?)(?:\(([\w.]*)(\+0x[0-9a-f]+)?\))? ?\[0x[0-9a-f]+\]$")


def stack(subject: Subject, script: Path) -> str:
    """The C stack of the crash of SCRIPT, innermost first, as a sanitizer prints one."""
    command = subject.script_command("-c", HANDLER, subject.module, script)
    try:
        result = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS_MAX,
                                env=subject.script_environment())
    except subprocess.TimeoutExpired:
        return ""
    return demangled(frames_of(result.stderr.decode(errors="replace")))


def frames_of(text: str) -> str:
    """The frames that backtrace_symbols_fd printed below the signal's, as a sanitizer's."""
    found = [match for line in text.splitlines() if (match := FRAME.match(line))]
    for at, (above, signals) in enumerate(zip(found, found[1:])):
        # Into the handler the way leads from the C library, through the callbacks of ctypes.
        if "/libffi" in above[1] and "/libc.so" in signals[1]:
            return "".join(
                f"    #{number} {frame[2] or '??'} ({frame[1]}{frame[3] or ''})\n"
                for number, frame in enumerate(found[at + 2:]))
    return ""


def demangled(text: str) -> str:
    """TEXT with the names of C++ as they are written."""
    result = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True)
    return result.stdout
