"""Prints the op table: what a program line can be.

With --subject it builds the target and marks ops that the subject lacks; --masked prints these
alone, with what they need and the error that this raised. --markdown prints docs/ops.md;
`./slotfuzz test` checks that this file is up to date.
"""

import re

from slotfuzz import options
from slotfuzz.console import table
from slotfuzz.language import op_table
from slotfuzz.language.program import ANY_VARIABLE, MARKS
from slotfuzz.subject import catalogue, registry
from slotfuzz.subject.packages import LISTS

EXAMPLE = "./slotfuzz ops --markdown > docs/ops.md"
INTRODUCTION = """\
# What a program line can be

Made by `./slotfuzz ops --markdown > docs/ops.md` from the files of ops/; add an op there.
A word in braces is an operand: the key of its kind, below. The top of ops/storage.ops says what
each effect means. An op whose needs a subject cannot evaluate is masked on it; `./slotfuzz ops
--subject torch` shows which. Any line can run on one of two other threads: `lane(1, "del s0")` has
thread 1 run it and waits for that.
"""


def add_arguments(parser) -> None:
    """The options of ops."""
    options.add_subject(parser)
    options.add_target(parser)
    parser.add_argument("--markdown", action="store_true", help="print docs/ops.md")
    parser.add_argument("--masked", action="store_true",
                        help="print what the subject masks, and why")


def packages(args) -> tuple[str, ...]:
    """Only the masks need a build."""
    return LISTS if _asks_for_masks(args) else ()


def run(args, output) -> int:
    """Prints the table from its source text, or with masks from the subject's binary."""
    masks = _asks_for_masks(args)
    description = _described(args) if masks else op_table.read()
    ops = description["ops"]
    output.document(ops)
    if args.markdown:
        output.text(markdown(description))
        return 0
    output.text(table(*_table_of(ops, masks, args.masked)))
    if masks:
        masked = sum(bool(op["masked"]) for op in ops)
        output.text(f"{len(ops)} ops, {masked} masked on {args.subject or 'core'}")
    else:
        output.text(f"{len(ops)} ops; --subject core shows which are masked on a subject")
    return 0


def _table_of(ops: list[dict], masks: bool, only_masked: bool) -> tuple[list, list[str]]:
    """Rows, and the head of their columns."""
    if only_masked:
        return ([[op["name"], op["needs"], op["masked"]] for op in ops if op["masked"]],
                ["op", "needs", "why it is masked"])
    rows = [[op["name"], op["template"], *(["masked" if op["masked"] else ""] if masks else []),
             op["sentence"]] for op in ops]
    return rows, ["op", "line", *[""] * masks, "what it does"]


def _asks_for_masks(args) -> bool:
    return any((args.masked, args.subject, args.target, args.sanitizer, args.python, args.rootfs))


def _described(args) -> dict:
    from slotfuzz.engine import server

    target = args.target or catalogue.default_target()
    wish = options.Meant(args.subject or registry.DEFAULT, args.sanitizer, target)
    return server.describe(options.resolve(args, wish, with_python=False), target)


def markdown(description: dict) -> str:
    """docs/ops.md without its last newline: a row for each op and each kind of operand."""
    ops = [["op", "line", "what it does", "effects", "needs"]]
    for op in description["ops"]:
        ops.append([_code(op["name"]), _code(_with_keys(op)), _prose(op["sentence"]),
                    " ".join(op["effects"]), _code(op["needs"])])
    kinds = [["kind", "name", "what it can be"]]
    for kind in description["kinds"]:
        words = kind["values"] or [f"{kind['prefix']}{i}" for i in range(kind["count"])]
        kinds.append([_code(kind["key"]), kind["name"], " ".join(map(_code, words))])
    kinds.append([_code(ANY_VARIABLE), "any variable", ""])
    return f"{INTRODUCTION}\n{_rows(ops)}\n\n## Kinds of operands\n\n{_rows(kinds)}"


def _with_keys(op: dict) -> str:
    keys = [word.lstrip(MARKS) for word in op["operands"]]
    return re.sub(r"\{(\d)\}", lambda match: "{" + keys[int(match[1])] + "}", op["template"])


def _code(text: str) -> str:
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`" if text else ""


def _prose(text: str) -> str:
    """Escapes `__slots__`, which Markdown would make bold, and bars, which would end a cell."""
    return re.sub(r"(__\w+__)", r"`\1`", text).replace("|", "\\|")


def _rows(rows: list[list[str]]) -> str:
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])
