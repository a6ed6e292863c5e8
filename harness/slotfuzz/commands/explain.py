"""Prints NOTES.md for a program: what happened to which object, and why that is wrong.

With -o it also draws the ownership timeline.
"""

from pathlib import Path

from slotfuzz import options
from slotfuzz.engine.server import Server
from slotfuzz.evidence import signature
from slotfuzz.finding import contract, explain, finding
from slotfuzz.finding.explain import NOTES
from slotfuzz.triage import draft

EXAMPLE = ("./slotfuzz explain corpus/storage/delete_in_hermetic.py"
           " --subject mutant:hermetic-del-storage")


def add_arguments(parser) -> None:
    """The options of explain."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE",
                        help=f"write here, and the ownership timeline to {explain.PICTURE}")
    options.add_subject(parser, of_file=True)
    options.add_target_of_file(parser)
    options.add_skip_unknown(parser)


def run(args, output) -> int:
    """Explains; 1 if the program is a finding."""
    text = options.read_program(args.file)
    wish = options.meant(args, args.file, text)
    if args.output:
        finding.check_writable(args.output.absolute().parent)
    with Server(options.resolve(args, wish, False), wish.target, trace=True) as server:
        reply = server.run(text)
        options.check_lines(args, args.file, server, reply)
        found = reply.is_finding
        number = ""
        if found:
            number = contract.contract_of(reply)
            title = draft.title_of(reply, signature.of_reply(reply))
            words = (reply, title, number, server.subject.name)
            files = explain.files(*words) if args.output else {NOTES: explain.notes(*words)}
        else:
            files = {NOTES: explain.annotated(reply)}
    if args.output:
        finding.write_file(args.output, files[NOTES])
        if explain.PICTURE in files:
            finding.write_file(args.output.parent / explain.PICTURE, files[explain.PICTURE])
    else:
        output.text(files[NOTES])
    output.document({"file": str(args.file), "outcome": reply.outcome, "contract": number,
                     "notes": files[NOTES]})
    return 1 if found else 0
