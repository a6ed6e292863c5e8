"""Shows tool versions and checks each oracle with a planted bug that it must report.

Exit code 3 if an oracle reports nothing: a clean hunt would then mean nothing.
"""

from slotfuzz import options
from slotfuzz.console import table
from slotfuzz.errors import UserError
from slotfuzz.measure import doctor
from slotfuzz.subject import tools
from slotfuzz.subject.sanitizers import SANITIZERS

EXAMPLE = "./slotfuzz doctor"


def add_arguments(parser) -> None:
    """The options of doctor."""
    parser.add_argument("--sanitizer", choices=sorted(SANITIZERS), action="append",
                        help="only this build's oracles; may be repeated")
    options.add_tree(parser)


def run(args, output) -> int:
    """Runs each planted bug; 3 if an oracle reports nothing."""
    tree = options.tree(args)
    sanitizers = args.sanitizer or (["none"] if tree else sorted(SANITIZERS))
    if tree and sanitizers != ["none"]:
        raise UserError("the engine of a --rootfs has no sanitizer; leave out --sanitizer")
    versions = tools.versions(tree)
    output.text("\n".join(f"{name}: {text}" for name, text in versions.items()))
    planted = doctor.plant_all(sanitizers, tree)
    rows = [[row["build"], row["planted"], row["oracle"], "reports" if row["heard"] else "SILENT",
             row["words"]] for row in planted]
    output.text(table(rows, ["build", "planted bug", "oracle", "", "message"]))
    silent = [row for row in planted if not row["heard"]]
    output.text(f"{len(planted) - len(silent)} of {len(planted)} planted bugs reported")
    blind = tools.blindness()
    for reason in blind:
        output.text(f"ThreadSanitizer may not work here: {reason}")
    output.document({"versions": versions, "planted": planted, "blindness": blind})
    return 3 if silent or not planted else 0
