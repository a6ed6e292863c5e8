"""Builds each mutant, looks for it, and checks what is found against its header.

A mutant that a program shows is hunted from an empty corpus; one of a protocol is explored with
the engines of its header; `programs` are then executions. `contract` is what the finding tells by
itself, `-` where it tells none; only then is the number in the header compared. Exit code 3 if one
is not found, or found to be something else: the harness would miss that bug.
"""

from slotfuzz.console import table
from slotfuzz.measure import mutants
from slotfuzz.subject import catalogue

EXAMPLE = "./slotfuzz mutants hermetic-del-storage --seconds 30"


def add_arguments(parser) -> None:
    """The options of mutants."""
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--seconds", type=float, default=60.0, help="per mutant, 60 by default")
    parser.add_argument("--seed", type=int, default=1)


def run(args, output) -> int:
    """Hunts the mutants; 0 if each is found as expected."""
    protocols = catalogue.protocol_mutant_names()
    names = [name if name in protocols else catalogue.check_mutant(name) for name in args.ids]
    names = names or catalogue.mutant_names() + protocols
    results, interrupted = [], False
    try:
        for name in names:
            results.append(mutants.look_for(name, args.seconds, args.seed))
    except KeyboardInterrupt:
        interrupted = True
    rows = [[row["mutant"], "yes" if row["found"] else "NO", row["oracle"], row["programs"],
             row["seconds"], "" if row["lines"] is None else row["lines"],
             row["contract"] or "-", "; ".join(row["problems"]) or "as expected"]
            for row in results]
    output.text(table(rows, ["mutant", "found", "oracle", "programs", "seconds", "lines",
                             "contract", ""]))
    good = sum(not row["problems"] for row in results)
    output.text(f"{good} of {len(results)} mutants found as expected"
                + f"; interrupted: {len(names) - len(results)} more were not looked for"
                * interrupted)
    output.document(results)
    return 0 if good == len(results) else 3
