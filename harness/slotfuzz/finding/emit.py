"""Writes repro.py: a script that shows the bug by itself, and that the parser can read back.

The header says what the script shows and how to run it. After it come imports, `--check`, the
snippets that the lines use, and the program, with each assert line after the line that it checks.
"""

import ast
import re
from collections.abc import Iterable

from slotfuzz.engine import frame
from slotfuzz.finding import definitions, failure
from slotfuzz.language import prelude
from slotfuzz.schema.answers import Reply
from slotfuzz.subject import registry

# The result of `stated` is inserted. It says "run" for a process, "fail" only for what it states.
CHECK = frame.CHECK_BEGIN + '''  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = {stated}
    {poison}failed, others = [], []
    for run in range(runs):
        end = subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                             errors="replace")
        code, said = end.returncode, end.stderr.strip().splitlines()
        said = [line for line in said if "SUMMARY" in line] or said[-2:]
        how = f"killed by {{signal.Signals(-code).name}}" if code < 0 else f"exit code {{code}}"
        if code and re.search(stated, f"{{end.stderr}}\\n{{how}}", re.MULTILINE):
            failed.append((code, said))
        elif code:
            others.append(": ".join([how, *said[-1:]]))
        print(f"\\r{{run + 1}} of {{runs}} runs, {{len(failed)}} failed", end="", file=sys.stderr)
        sys.stderr.flush()
    print(file=sys.stderr)
    codes = sorted({{code for code, _ in failed}})
    print(f"failed {{len(failed)}} of {{runs}}, exit codes {{codes}}")
    for line in failed[0][1] if failed else []:
        print(line)
    for how in sorted(set(others)):
        print(f"{{others.count(how)}} ended otherwise: {{how}}")
    sys.exit(1 if failed else 2 if others else 0)
'''
POISON = """\
# Freed memory must not look alive.
    os.environ.update(
        {})
    """
HEADER_LINE = re.compile(r"^# (subject|sanitizer|contract|function): (.*)$")
STATED = "    stated = "


def script(
    reply: Reply, snippets: list[prelude.Snippet], subject: str, sanitizer: str,
    title: str, function: str = "", manner: failure.Manner = failure.AS_IN_THE_ENGINE,
) -> str:
    """The text of repro.py for a finding, in the engine's words (a reply to `run`)."""
    lines, capabilities = program_lines(reply), registry.find(subject)
    used = definitions.reached(snippets, "\n".join(lines), capabilities.module)
    if frame.END in lines:
        lines = _cleared(lines, lists_of(used))
    body = "\n".join(lines)
    code = f"{body}\n{used}"
    parts = [header(title, reply.contract, subject, sanitizer, function, manner),
             _imports(code), frame.import_of(capabilities),
             check_block(failure.stated(reply, manner), manner.environment)]
    if reply.kind in failure.HANGS:
        parts.append(frame.WATCHED)
    if used:
        parts.append(used + "\n")
    parts.append(body + "\n")
    return "\n".join(parts)


def check_block(words: str, environment: Iterable[tuple[str, str]] = ()) -> str:
    """The lines for `--check`; the script's failure matches the regular expression WORDS.

    The runs get the variables in ENVIRONMENT.
    """
    text = f'r"{words}"' if '"' not in words and not words.endswith("\\") else repr(words)
    variables = ", ".join(f'{name}="{value}"' for name, value in environment)
    return CHECK.format(stated=text, poison=POISON.format(variables) if variables else "")


def read_stated(text: str) -> str:
    """The regular expression in a script's block for `--check`; empty if it has none."""
    lines = (line for line in text.splitlines() if line.startswith(STATED))
    return ast.literal_eval(next(lines, STATED + "''").removeprefix(STATED))


def header(
    title: str, contract: str, subject: str, sanitizer: str, function: str = "",
    manner: failure.Manner = failure.AS_IN_THE_ENGINE,
) -> str:
    """The comment at the top, from which other commands read subject, sanitizer and function."""
    lines = [f"# {title}"]
    if contract:
        lines.append(f"# contract: {contract}")
    lines += [f"# subject: {subject}", f"# sanitizer: {sanitizer}"]
    if function:
        lines.append(f"# function: {function}")
    variables = "".join(f"{name}={value} " for name, value in manner.environment)
    lines.append(f"# run: {variables}{command(subject)}    (or: --check 20)")
    return "\n".join(lines)


def command(subject: str) -> str:
    """The command that runs a script of SUBJECT."""
    return f"{registry.find(subject).runs_scripts} repro.py"


def read_header(text: str) -> dict[str, str]:
    """What the header of a script says, by the words of HEADER_LINE; missing ones are left out."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            break
        match = HEADER_LINE.match(line)
        if match:
            found[match[1]] = match[2].strip()
    return found


def suppressed(line: str, error: str) -> str:
    """LINE as a statement that passes over ERROR, the name of a class.

    Python has no `with` statement within the line of another one, but one of several managers.
    """
    rest = line.removeprefix("with ")
    return f"with suppress({error}){', ' if rest != line else ': '}{rest}"


def program_lines(reply: Reply) -> list[str]:
    """The program with `with suppress(..)` where a line raises, and the judge's assert lines."""
    printed = []
    for index, line in enumerate(reply.lines):
        shown = _raises_the_finding(reply) and index == reply.line
        if line.raised and not shown:
            printed.append(suppressed(line.text, line.raised))
        else:
            printed.append(line.text)
        if index == reply.line:
            printed += reply.asserts
    if reply.is_at_end and (end := reply.asserts or reply.reset):
        # Indented, so that the parser drops these lines: the engine's own reset does the same.
        printed.append(frame.END)
        printed += [f"    {line}" for line in end]
    return printed


def lists_of(code: str) -> list[str]:
    """The names to which CODE assigns an empty list when a script starts.

    Assignments within a function, or in a text for another interpreter, do not count.
    """
    return [target.id for node in ast.parse(code).body if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.List) and not node.value.elts
            for target in node.targets if isinstance(target, ast.Name)]


def _cleared(lines: list[str], holders: list[str]) -> list[str]:
    """LINES whose end also clears HOLDERS, the lists of the prelude that keep objects alive.

    A list that was empty at the failure may fill once the bug is fixed, because a finalizer runs
    that did not run before. The script must not fail for an object that this finalizer keeps. A
    list that an assert line reads is not cleared.
    """
    at = next((at for at, line in enumerate(lines) if line.startswith("    assert ")), len(lines))
    asked = set(prelude.WORD.findall("\n".join(lines[at:])))
    clears = [f"    {name}.clear()" for name in holders
              if f"    {name}.clear()" not in lines and name not in asked]
    if not clears:
        return lines
    return [*lines[:at], *clears, "    gc.collect()", *lines[at:]]


def _raises_the_finding(reply: Reply) -> bool:
    """Whether the exception of a line is the finding, and no assert line shows it."""
    return reply.kind == "exception" and not reply.asserts


def _imports(code: str) -> str:
    words = set(prelude.WORD.findall(code))
    modules = sorted({"os", "subprocess", "sys"} | (words & {"gc", "weakref"}))
    lines = [f"import {', '.join(modules)}"]
    if "suppress" in words:
        lines.append("from contextlib import suppress")
    return "\n".join(lines)


