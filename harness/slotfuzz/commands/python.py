"""The sanitized CPython with slotcore built in: runs any script.

A script's header says which subject and sanitizer it is meant for, unless given. Options of
slotfuzz come first; everything from the first other word on is handed over.
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
    """Sets the words for Python apart from our own by `--`."""
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
    options.add_subject(parser)
    parser.add_argument("arguments", nargs="*", metavar="ARGS", help="as for python3")


def run(args, output) -> int:
    """Replaces this process by the interpreter; the exit code is its own."""
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
