"""Prints the op table: what a program line can be."""

from slotfuzz import engine, options, subject
from slotfuzz.console import table

EXAMPLE = "./slotfuzz ops --subject torch"


def add_arguments(parser) -> None:
    """The options of ops."""
    options.add_subject(parser)
    options.add_target(parser)


def run(args, output) -> int:
    """Asks the binary for its table."""
    target = args.target or options.default_target()
    chosen = subject.resolve(args.subject or "core", args.sanitizer, [target], args.python, False)
    ops = engine.describe(chosen, target)["ops"]
    rows = [[op["name"], op["template"], "masked" if op["masked"] else "", op["sentence"]]
            for op in ops]
    output.text(table(rows, ["op", "line", "", "what it does"]))
    masked = sum(op["masked"] for op in ops)
    output.text(f"{len(ops)} ops, {masked} masked on {chosen.name}")
    output.document(ops)
    return 0
