"""Prints NOTES.md for a program: what happened to which object, and why that is wrong."""

from pathlib import Path

from slotfuzz import explain, options, signature, triage
from slotfuzz.engine import Server

EXAMPLE = "./slotfuzz explain repro/*/repro.py"


def add_arguments(parser) -> None:
    """The options of explain."""
    parser.add_argument("file", type=Path, metavar="FILE")
    options.add_subject(parser)
    options.add_target(parser)


def run(args, output) -> int:
    """Explains; 1 if the program is a finding."""
    text = options.read_program(args.file)
    wish = options.meant(args, args.file, text)
    with Server(options.resolve(args, wish, False), wish.target, trace=True) as server:
        reply = server.run(text)
        found = reply["outcome"] == "finding"
        contract = ""
        if found:
            contract = explain.contract_of(reply, triage.mutant_contract(server.subject))
            words = signature.of_reply(reply)
            notes = explain.notes(reply, triage.title_of(reply, words), contract,
                                  server.subject.name)
        else:
            notes = explain.annotated(reply)
    output.text(notes)
    output.document({"file": str(args.file), "outcome": reply["outcome"], "contract": contract,
                     "notes": notes})
    return 1 if found else 0
