"""Options that several commands share, and the subject that a program file names."""

from dataclasses import dataclass
from pathlib import Path

from slotfuzz.errors import UserError
from slotfuzz.finding import emit, finding
from slotfuzz.schema.answers import Reply
from slotfuzz.subject import catalogue, registry, rootfs, subject, tested
from slotfuzz.subject.sanitizers import SANITIZERS

PROGRAM_BYTES_MAX = 4 << 20
LINE_SHOWN_MAX = 100


@dataclass(frozen=True)
class Meant:
    """The subject, sanitizer, target and tested function that a program is meant for."""

    subject: str
    sanitizer: str | None
    target: str
    function: tested.TestedFunction | None = None


def add_subject(parser, of_file: bool = False) -> None:
    """--subject, --sanitizer, --python and --rootfs; OF_FILE: a file's header may have the first
    two.
    """
    header = "what the file's header has, else " if of_file else ""
    parser.add_argument("--subject", metavar="|".join(registry.names()),
                        help=f"the module T; by default {header}{registry.DEFAULT}")
    parser.add_argument("--sanitizer", choices=sorted(SANITIZERS),
                        help=f"by default {header}what suits the subject")
    add_python(parser)


def add_python(parser) -> None:
    """--python and --rootfs."""
    parser.add_argument("--python", metavar="PATH", help="the interpreter that has torch")
    add_tree(parser)


def add_tree(parser) -> None:
    """--rootfs."""
    parser.add_argument("--rootfs", type=Path, metavar="DIR",
                        help="a tree made by ci/torch_rootfs.sh that has torch")


def add_skip_unknown(parser) -> None:
    """--skip-unknown."""
    parser.add_argument("--skip-unknown", action="store_true",
                        help="skip lines that match no op, and run the others")


def check_lines(args, path: Path, server, reply: Reply) -> None:
    """UserError if lines of the program in PATH did not run in REPLY, unless --skip-unknown.

    A file without any program line is always an error.
    """
    dropped = reply.dropped_lines
    if not reply.lines or (dropped and not args.skip_unknown):
        raise UserError(_unknown(path, server.table, reply))


def _unknown(path: Path, table, reply: Reply) -> str:
    if not reply.dropped_lines:
        return f"{path} holds no program line; ./slotfuzz ops prints what a line can be"
    first, *rest = reply.dropped_lines
    why = {"no op": "matches no op", "masked": "has an op that this subject or target lacks",
           "too many": "comes after the last line that a program may have"}[first.why]
    text = first.text.strip()
    like = table.nearest(text) if first.why == "no op" else ""
    return (f"{path}, line {first.line}: `{text[:LINE_SHOWN_MAX]}` {why}"
            + (f"; the nearest op is {like}, `{table.ops[like]['template']}`" if like else "")
            + f"; {reply.dropped_count - 1} more lines did not run" * bool(rest)
            + ("; --skip-unknown runs the others" if reply.lines else
               "; no line is a program's (./slotfuzz ops prints what one can be)"))


def tree(args) -> Path | None:
    """The tree that --rootfs names, checked."""
    return rootfs.check(args.rootfs) if args.rootfs else None


def add_target(parser, otherwise: str = "") -> None:
    """--target; OTHERWISE is what comes before the default target."""
    words = f"{otherwise}, else " if otherwise else ""
    parser.add_argument("--target", help=f"by default {words}{catalogue.DEFAULT_TARGET}")


def add_target_of_file(parser) -> None:
    """--target of a command that takes a program file."""
    add_target(parser, "that of the finding, the mutant or the folder")


def read_program(path: Path) -> str:
    """The text of a program file. Bytes that are not UTF-8 are replaced, a huge file is cut."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; a program file is needed")
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a regular file; a program file is needed")
    try:
        with open(path, "rb") as file:
            return file.read(PROGRAM_BYTES_MAX).decode(errors="replace")
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error


def program_files(paths: list[Path]) -> list[Path]:
    """PATHS, with each folder replaced by its files; UserError for a folder without files."""
    found = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.is_file() and p.name[0] != ".")
            if not inside:
                raise UserError(f"{path} holds no file")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise UserError(f"no such file: {path}")
    return found


def meant(args, path: Path, text: str) -> Meant:
    """The subject of a program: by the options, the script's header, or finding.json beside it."""
    header = emit.read_header(text)
    name = args.subject or header.get("subject") or registry.DEFAULT
    sanitizer = args.sanitizer
    if sanitizer is None and args.subject in (None, header.get("subject")):
        sanitizer = header.get("sanitizer")
    if sanitizer not in (None, *SANITIZERS):
        raise UserError(f"{path}: the header names an unknown sanitizer {sanitizer!r}")
    function = header.get("function")
    return Meant(name, sanitizer, getattr(args, "target", None) or _target(path, name),
                 tested.read(function, path.parent) if function else None)


def resolve(args, wish: Meant, with_python: bool = True) -> subject.Subject:
    """Builds the subject of WISH."""
    return subject.resolve(wish.subject, wish.sanitizer, [wish.target], args.python, with_python,
                           tree(args), wish.function)


def _target(path: Path, name: str) -> str:
    if path.name == "repro.py":
        record = finding.read(path.parent)
        target = record.target if record else None
        if target in catalogue.target_names():
            return target
    target = registry.own_target(name)
    if not target and path.parent.name in catalogue.target_names():
        return path.parent.name
    return target or catalogue.default_target()
