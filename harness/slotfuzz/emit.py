"""Writes repro.py: a script that shows the bug by itself, and that the parser reads back.

The header says what it shows and how to run it; then come imports, `--check`, the snippets that
the lines use, the program, and the judge's assert lines after the line that they belong to.
"""

import re

from slotfuzz import prelude
from slotfuzz.signature import HANGING

CHECK = '''\
if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    {poison}ends = [subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                           errors="replace") for _ in range(runs)]
    failed = [end for end in ends if end.returncode]
    codes = sorted({{end.returncode for end in ends}})
    print(f"failed {{len(failed)}} of {{runs}}, exit codes {{codes}}")
    for end in failed[:1]:
        lines = end.stderr.splitlines()
        print(*[line for line in lines if "SUMMARY" in line] or lines[-2:], sep="\\n")
    sys.exit(bool(failed))
'''
# glibc from 2.41 on leaves what it caches per thread as it was.
POISON_ENVIRONMENT = {"PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "165",
                      "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
POISON = f"""\
# Freed memory must not look alive.
    os.environ.update(
        {", ".join(f'{name}="{value}"' for name, value in POISON_ENVIRONMENT.items())})
    """
# How faulthandler ends a script that hangs.
HANG_EXIT, HANG_WORDS = 1, "Timeout ("
WATCHED = """\
# It hangs. If it does, this says in which line each thread is, and ends it.
import faulthandler
faulthandler.dump_traceback_later(3, exit=True)
"""
END = "if True:  # the end: every name is dropped, and the collector runs"
HOLDER = re.compile(r"^(\w+) = \[\]$", re.MULTILINE)
HEADER_LINE = re.compile(r"^# (subject|sanitizer|contract): (.*)$")


def script(
    reply: dict, snippets: list[prelude.Snippet], subject: str, module: str, sanitizer: str,
    title: str,
) -> str:
    """The text of repro.py for a finding, in the engine's words (a reply to `run`)."""
    lines = program_lines(reply)
    used = prelude.needed(snippets, "\n".join(lines), module)
    if END in lines:
        lines = _cleared(lines, [name for one in used for name in HOLDER.findall(one.text)])
    body = "\n".join(lines)
    code = "\n".join([body, *(snippet.text for snippet in used)])
    parts = [header(title, reply.get("contract", ""), subject, sanitizer), _imports(code)]
    parts.append(_import_of(module))
    parts.append(CHECK.format(poison=POISON if sanitizer == "none" else ""))
    if reply["kind"] in HANGING:
        parts.append(WATCHED)
    if used:
        parts.append("\n".join(snippet.text for snippet in used) + "\n")
    parts.append(body + "\n")
    return "\n".join(parts)


def header(title: str, contract: str, subject: str, sanitizer: str) -> str:
    """The comment at the top. `replay` and `python` read subject and sanitizer from it."""
    lines = [f"# {title}"]
    if contract:
        lines.append(f"# contract: {contract}")
    lines += [f"# subject: {subject}", f"# sanitizer: {sanitizer}"]
    lines.append(f"# run: {command(subject)}    (or: --check 20)")
    return "\n".join(lines)


def command(subject: str) -> str:
    """What runs a script of SUBJECT."""
    return "python3 repro.py" if subject == "torch" else "./slotfuzz python repro.py"


def read_header(text: str) -> dict[str, str]:
    """subject, sanitizer and contract from the header of a script; what it lacks is absent."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            break
        match = HEADER_LINE.match(line)
        if match:
            found[match[1]] = match[2].strip()
    return found


def program_lines(reply: dict) -> list[str]:
    """The program with `with suppress(..)` where a line raises, and the judge's assert lines."""
    printed = []
    for index, line in enumerate(reply["lines"]):
        shown = _raises_the_finding(reply) and index == reply["line"]
        if line.get("raised") and not shown:
            printed.append(f"with suppress({line['raised']}): {line['text']}")
        else:
            printed.append(line["text"])
        if index == reply["line"]:
            printed += reply.get("asserts", [])
    if reply["line"] >= len(reply["lines"]) and (end := reply.get("asserts") or reply.get("reset")):
        # Indented: the parser drops these lines, because the engine's own reset does them.
        printed.append(END)
        printed += [f"    {line}" for line in end]
    return printed


def _cleared(lines: list[str], holders: list[str]) -> list[str]:
    """LINES whose end also clears HOLDERS, the lists of the prelude that keep objects alive.

    Those that were empty when it failed may not be once the bug is fixed: then a finalizer runs
    that did not, and the script must not fail for what that finalizer kept.
    """
    clears = [f"    {name}.clear()" for name in holders if f"    {name}.clear()" not in lines]
    if not clears:
        return lines
    at = next((at for at, line in enumerate(lines) if line.startswith("    assert ")), len(lines))
    return [*lines[:at], *clears, "    gc.collect()", *lines[at:]]


def _raises_the_finding(reply: dict) -> bool:
    """Whether the exception of a line is the finding, and no assert line shows it."""
    return reply["kind"] == "exception" and not reply.get("asserts")


def _imports(code: str) -> str:
    words = set(prelude.WORD.findall(code))
    modules = sorted({"os", "subprocess", "sys"} | (words & {"gc", "weakref"}))
    lines = [f"import {', '.join(modules)}"]
    if "suppress" in words:
        lines.append("from contextlib import suppress")
    return "\n".join(lines)


def _import_of(module: str) -> str:
    if module == "torch":
        return "import torch as T\n"
    return (
        "try:\n"
        f"    import {module} as T\n"
        "except ImportError:\n"
        f"    print('{module} is not importable here; run: ./slotfuzz python', __file__,"
        " file=sys.stderr)\n"
        "    sys.exit(2)\n"
    )
