"""Runs any script with the sanitized CPython that has slotcore built in.

Subject and sanitizer come from the script's header unless given. Options of slotfuzz come first;
all words after them go to Python.
"""

import os
from pathlib import Path

from slotfuzz import options
from slotfuzz.finding import emit
from slotfuzz.subject import registry, subject
from slotfuzz.subject.sanitizers import SANITIZERS

EXAMPLE = "./slotfuzz python repro/p2-attributes-e610f1/repro.py --check 20"
OWN_OPTIONS = ("--subject", "--sanitizer", "--python", "--rootfs")


def arrange(argv: list[str]) -> list[str]:
    """Inserts `--` between our own options and the words for Python."""
    own = 0
    while own < len(argv):
        word = argv[own]
        if word in OWN_OPTIONS:
            own += 2
        elif word in ("-h", "--help") or word.partition("=")[0] in OWN_OPTIONS:
            own += 1
        else:
            break
    rest = argv[own:]
    return [*argv[:own], "--", *(rest[1:] if rest[:1] == ["--"] else rest)]


def add_arguments(parser) -> None:
    """The options of python."""
    options.add_subject(parser, of_file=True)
    parser.add_argument("arguments", nargs="*", metavar="ARGS", help="as for python3")


def run(args, output) -> int:
    """Replaces this process by the interpreter, whose exit code is the result."""
    header = {}
    script = next((word for word in args.arguments if not word.startswith("-")), None)
    if args.arguments and script == args.arguments[0] and Path(script).is_file():
        header = emit.read_header(options.read_program(Path(script)))
    name = args.subject or header.get("subject", registry.DEFAULT)
    sanitizer = args.sanitizer
    if sanitizer is None and header.get("sanitizer") in SANITIZERS:
        sanitizer = header["sanitizer"]
    chosen = subject.resolve(name, sanitizer, [], args.python, tree=options.tree(args))
    environment = chosen.script_environment(full_stacks=True)
    kept = chosen.capabilities.trace_variable
    if kept in os.environ:
        environment[kept] = os.environ[kept]
    command = chosen.script_command(*args.arguments)
    os.execvpe(command[0], command, environment)
