"""Keeps the tensors that are in scope at a line of a script, so that `restore` makes them again.

The script runs under the interpreter that has torch and stops before the line; the case has the
tensors' descriptions and bytes, the grad mode, and the lines that follow.
"""

from pathlib import Path

from slotfuzz import options
from slotfuzz.console import say
from slotfuzz.inputs import capture, folder, script

EXAMPLE = "./slotfuzz capture bench/programs/mixed_sizes.py --line 7 -o case/"


def packages(_args) -> tuple[str, ...]:
    """It needs no build."""
    return ()


def add_arguments(parser) -> None:
    """The options of capture."""
    parser.add_argument("file", type=Path, metavar="SCRIPT")
    parser.add_argument("--line", type=int, metavar="N", required=True,
                        help="stop before this line, the first time that it is reached")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", required=True)
    options.add_python(parser)


def run(args, output) -> int:
    """Writes the case; 0."""
    script.rest_from(script.read(args.file), args.line, str(args.file))
    folder.check(args.output)
    place = capture.place_of(args.python, options.tree(args))
    with folder.filled(args.output) as made:
        case = capture.capture(args.file, args.line, place, made)
    for name, kind in case.missing.items():
        say(f"later lines read `{name}`, a {kind}, which no capture keeps")
    document = case.capture.document
    output.text(f"{', '.join(case.capture.names)}: {len(document.tensors)} tensors,"
                f" {len(document.storages)} storages, {case.bytes} bytes,"
                f" {len(case.lines)} lines; torch {case.record.torch}\nwrote {args.output}")
    output.document({
        "case": str(args.output), "names": list(case.capture.names),
        "tensors": len(document.tensors), "storages": len(document.storages),
        "bytes": case.bytes, "lines": len(case.lines), "torch": case.record.torch,
        "missing": case.missing,
    })
    return 0
