"""Prints a script that makes the tensors of a case again and runs the lines that followed.

The script needs PyTorch and nothing else. Long bytes stay in the case, from which it reads them.
"""

from pathlib import Path

from slotfuzz.inputs import case

EXAMPLE = "./slotfuzz restore case/ > repro.py"


def packages(_args) -> tuple[str, ...]:
    """It needs no build."""
    return ()


def add_arguments(parser) -> None:
    """The options of restore."""
    parser.add_argument("case", type=Path, metavar="DIR", help="what capture has written")


def run(args, output) -> int:
    """Prints the script; 0."""
    found = case.read(args.case)
    text = case.text(found, repr(str((args.case / case.INPUTS).absolute())), case.title(found))
    output.text(text.rstrip("\n"))
    output.document({"case": str(args.case), "script": text, "missing": found.missing})
    return 0
