"""Runs the benchmarks of bench/ and writes build/bench/NAME.csv and a plot of each.

A plot needs Debian's python3-matplotlib, which the set-up does not install.
"""

from slotfuzz import options
from slotfuzz.console import table
from slotfuzz.errors import UserError
from slotfuzz.measure import benchmark
from slotfuzz.paths import shown
from slotfuzz.subject import catalogue

EXAMPLE = "./slotfuzz bench time_to_bug --mutant hermetic-del-storage --seeds 10"
SEEDS_MAX = 1000


def add_arguments(parser) -> None:
    """The options of bench."""
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"all by default: {', '.join(benchmark.names())}")
    parser.add_argument("--mutant", dest="mutants", action="append", metavar="ID",
                        help="a mutant to hunt; may be repeated; the benchmark has a default")
    parser.add_argument("--seeds", type=int, metavar="N",
                        help="hunts per mutant; by default the benchmark chooses")
    parser.add_argument("--seconds", type=float, default=60.0,
                        help="limit for each hunt, 60 by default")
    parser.add_argument("--runs", type=int, metavar="N", help="programs to compare")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the programs to compare")
    parser.add_argument("--sample", type=int, metavar="N", help="mutants that rules make, to hunt")
    options.add_python(parser)


def run(args, output) -> int:
    """Runs the benchmarks; 1 if one of them found something that must not happen."""
    if args.seeds is not None and not 1 <= args.seeds <= SEEDS_MAX:
        raise UserError(f"--seeds must be 1 to {SEEDS_MAX}")
    for name in ("seconds", "runs", "seed", "sample"):
        may_be_none = name == "runs" and args.names == ["mutation"]
        if (given := getattr(args, name)) is not None and given <= 0 - may_be_none:
            raise UserError(f"--{name} must be more than 0")
    protocols = catalogue.protocol_mutant_names() if args.names == ["interleavings"] else []
    for name in args.mutants or []:
        if name not in protocols:
            catalogue.check_mutant(name)
    modules = {name: benchmark.load(name) for name in args.names or benchmark.names()}
    benchmark.folder()
    results, failed = {}, False
    for name, module in modules.items():
        measured = module.measure(args)
        failed |= measured.failed
        head = list(measured.rows[0])
        output.text(f"{name}: {module.__doc__.splitlines()[0]}")
        output.text(table([[row[key] for key in head] for row in measured.rows], head))
        for sentence in measured.sentences:
            output.text(sentence)
        csv, plot = (benchmark.write_csv(name, measured),
                     benchmark.write_plot(name, module, measured))
        output.text(f"wrote {shown(csv)}" + (f" and {shown(plot)}\n" if plot else
                    f"; no plot: apt-get install {benchmark.PLOT_PACKAGE}\n"))
        results[name] = {"rows": measured.rows, "summary": measured.summary, "csv": shown(csv),
                         "plot": shown(plot) if plot else None}
    output.document(results)
    return int(failed)
