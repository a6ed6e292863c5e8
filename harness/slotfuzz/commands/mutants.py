"""Builds each mutant, looks for its bug, and compares the finding with the mutant's header.

If programs reveal the mutant, a hunt from an empty corpus looks for it. A mutant of a protocol is
explored with the engines of its header, and `programs` counts executions. `contract` is the number
in the finding, or `-` if the finding has no number; then the header's number is not compared. Exit
code 3 if a mutant is not found, or the finding differs: the harness would miss that bug.
"""

from slotfuzz.console import table
from slotfuzz.measure import mutants
from slotfuzz.subject import catalogue

EXAMPLE = "./slotfuzz mutants dtype-refused --seconds 30"


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
            results.append(mutants.row_of(name, args.seconds, args.seed))
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
                + f"; interrupted: {len(names) - len(results)} more mutants did not run"
                * interrupted)
    output.document(results)
    return 0 if good == len(results) else 3
