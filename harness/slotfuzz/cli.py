"""The command line: finds the command's file in commands/, parses options, maps errors to codes.

Exit codes: 0 clean, 1 finding, 2 usage or machine, 3 the harness itself is broken, 130 or 143
interrupted by SIGINT or SIGTERM with nothing found.
"""

import argparse
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from slotfuzz.console import Output, as_called
from slotfuzz.errors import BrokenError, Interrupted, KilledError, MachineError, UserError, nearest
from slotfuzz.subject import packages

COMMANDS = Path(__file__).parent / "commands"


def main(argv: list[str] | None = None) -> int:
    """Runs the command in ARGV, by default this process's; returns the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    return _flushed(lambda: _main(argv))


def script(prog: str, module, argv: list[str]) -> int:
    """Runs MODULE, the program behind the script PROG in ci/, as `main` runs a command."""
    def parse_and_run():
        try:
            args = parser_of(prog, module).parse_args(argv)
        except UserError as error:
            return _failed("--json" in argv, str(error), 2)
        return _run(module, args)
    return _flushed(parse_and_run)


def _flushed(run: Callable[[], int]) -> int:
    _open_streams()
    try:
        code = run()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has closed the pipe, like `| head`. Python must not report that when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except OSError as error:
        # The last flush failed, for example because of a full disk behind `> file`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"slotfuzz: cannot write to stdout: {error.strerror}", file=sys.stderr)
        return 2


def _open_streams() -> None:
    """Makes stdout and stderr usable even if the caller has closed them, and in each locale.

    If the terminal cannot show a character of a program, path or report, it gets `?` instead.
    """
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            # Otherwise the next opened file gets this number, and our output goes into it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            setattr(sys, name, open(number, "w", closefd=False))
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _main(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(overview())
        return 0
    if argv[0] not in command_names():
        print(f"slotfuzz: no command {argv[0]!r}; {nearest(argv[0], command_names())}",
              file=sys.stderr)
        return 2
    module = importlib.import_module(f"slotfuzz.commands.{argv[0]}")
    try:
        args = parser_of(f"./slotfuzz {argv[0]}", module).parse_args(_arranged(module, argv[1:]))
    except UserError as error:
        return _failed("--json" in argv, str(error), 2)
    return _run(module, args)


def command_names() -> list[str]:
    """The commands: the files of commands/."""
    return sorted(path.stem for path in COMMANDS.glob("[a-z]*.py"))


def overview() -> str:
    """The text of -h: each command with the first sentence of its file."""
    lines = ["usage: ./slotfuzz COMMAND ...", "", "commands:"]
    width = max(map(len, command_names())) + 2
    for name in command_names():
        # Importing all these files would take longer than all other work of -h.
        sentence = (COMMANDS / f"{name}.py").read_text().partition("\n")[0].strip('"')
        lines.append(f"  {name:<{width}}{sentence}")
    lines += ["", "./slotfuzz COMMAND -h shows the options and an example.",
              "Exit codes: 0 clean, 1 finding, 2 usage or machine, 3 the harness is broken,"
              " 130 or 143 interrupted.",
              "Builds and corpora go to build/, or to the user's cache folder if that is"
              " read-only;", "SLOTFUZZ_BUILD=DIR names another folder.", "",
              "example:",
              "  ./slotfuzz hunt --subject mutant:hermetic-del-storage --stop-at-first --out found"]
    return as_called("\n".join(lines))


class _Parser(argparse.ArgumentParser):
    """Prints an error in one line, with the nearest option for an unknown one."""

    def error(self, message: str):
        unknown = message.partition("unrecognized arguments: ")[2].split()
        if unknown and unknown[0].startswith("--"):
            options = [word for action in self._actions for word in action.option_strings]
            message = f"no option {unknown[0]}; {nearest(unknown[0], options)}"
        raise UserError(f"{message}\n{self.prog} -h shows the options and an example.")


def parser_of(prog: str, module) -> argparse.ArgumentParser:
    """The parser of the command PROG; MODULE defines its arguments and an example."""
    parser = _Parser(
        prog=as_called(prog), description=as_called(module.__doc__),
        epilog=as_called(f"example:\n  {module.EXAMPLE}"),
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    module.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def _arranged(module, argv: list[str]) -> list[str]:
    """A command that passes words to another program may separate them first."""
    return module.arrange(argv) if hasattr(module, "arrange") else argv


def _run(module, args) -> int:
    signals = []

    def interrupt(number, frame):
        signals.append(number)
        raise Interrupted(number)

    previous = {number: signal.signal(number, interrupt)
                for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        code = _run_guarded(module, args)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    # An interrupted command that prints its result so far returns the code of that result.
    return 128 + signals[0] if signals and code == 0 else code


def _run_guarded(module, args) -> int:
    try:
        packages.ensure(module.packages(args) if hasattr(module, "packages") else packages.LISTS)
        return module.run(args, Output(args.json))
    except (UserError, MachineError, KilledError) as error:
        return _failed(args.json, str(error), 2)
    except BrokenPipeError:
        raise
    except OSError as error:
        text = f"{error.filename or ''}: {error.strerror or error}".lstrip(": ")
        return _failed(args.json, text, 2)
    except MemoryError:
        return _failed(args.json, "out of memory; is it limited by `ulimit -v`?", 2)
    except BrokenError as error:
        return _failed(args.json, f"the harness is broken: {error}", 3)
    except KeyboardInterrupt as stop:
        number = stop.number if isinstance(stop, Interrupted) else signal.SIGINT
        return _failed(args.json, "interrupted", 128 + number)
    # Python would exit with 1, which means "finding"; an unexpected error must give 3.
    except Exception as error:  # pylint: disable=broad-except
        import traceback

        traceback.print_exc()
        return _failed(args.json, f"the harness is broken: {type(error).__name__}: {error}", 3)


def _failed(as_json: bool, text: str, code: int) -> int:
    text = as_called(text)
    print(f"slotfuzz: {text}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": text, "exit_code": code}))
    return code
