"""Runs every interleaving, under the C++ memory model, of the core's protocols for threads.

By default it explores the golden scenario of each model exhaustively. A failure is printed as a
table, replayed, and written as a C++ program. Engines: model (every execution), fibres (the real
code under ThreadSanitizer, by schedule), threads, yields (threads that yield at random).

--subject c10 tests the same code of an installed libtorch: its headers are built into a target, and
libFuzzer searches schedules under both sanitizers.
"""

from pathlib import Path

from slotfuzz.console import table
from slotfuzz.errors import UserError
from slotfuzz.interleave import binaries, interleave_c10, interleave_repro, rows
from slotfuzz.paths import build_root, shown
from slotfuzz.schema import schedules
from slotfuzz.subject import catalogue, registry

EXAMPLE = ("./slotfuzz interleave claim --threads 4\n"
           "  ./slotfuzz interleave counts --shape owners --programs 'wrap,decref;lock,decref'\n"
           "  ./slotfuzz interleave claim --schedule c1010200010001000001\n"
           "  ./slotfuzz interleave weak-claim --subject c10")
SECONDS = 60.0
SECONDS_MAX = 1e9
HEAD = ["model", "engine", "threads", "programs", "graphs", "executions", "seconds", "verdict"]


def add_arguments(parser) -> None:
    """The options of interleave."""
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help=f"all by default: {', '.join(catalogue.protocol_names())}")
    parser.add_argument("--threads", metavar="N", help="threads of the golden scenario")
    parser.add_argument("--shape", metavar="NAME", help="initial state for --programs")
    parser.add_argument("--programs", metavar="A,B;C", help="the threads' operations")
    parser.add_argument("--engine", choices=binaries.ENGINES, help="model by default")
    parser.add_argument("--subject", default=registry.DEFAULT,
                        metavar="|".join(registry.interleaved_names()),
                        help="c10: the installed libtorch; --describe lists its models")
    parser.add_argument("--rootfs", type=Path, metavar="DIR",
                        help="with c10: the libtorch of a tree made by ci/torch_rootfs.sh")
    parser.add_argument("--schedule", metavar="HEX", help="replay a printed schedule")
    parser.add_argument("--times", metavar="N", default="1", help="replay N times")
    parser.add_argument("--bound", metavar="N", help="at most N preemptions and stale reads")
    parser.add_argument("--executions", metavar="N", help="at most N executions")
    parser.add_argument("--seconds", type=float, metavar="N",
                        help="limit per model, 60 by default (c10: per model and sanitizer, 10);"
                             " the verdict of a search that it cuts short is `cut`")
    parser.add_argument("--seed", metavar="N", help="seed of random schedules and yields")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="folder for programs of failures; build/interleave by default")
    parser.add_argument("--describe", action="store_true",
                        help="print the models' operations and shapes")


def run(args, output) -> int:
    """Explores; 1 if a model fails."""
    if args.seconds is not None and not 0 < args.seconds < SECONDS_MAX:
        raise UserError("--seconds must be more than 0 and less than 1e9")
    if registry.find_interleaved(args.subject).is_fuzzed_by_schedule:
        return interleave_c10.run(args, output)
    if args.rootfs:
        raise UserError("--rootfs needs --subject c10")
    args.seconds = args.seconds or SECONDS
    name = binaries.mutant_of(args.subject)
    models = [binaries.check_protocol(model) for model in dict.fromkeys(args.models)]
    if args.describe:
        return _describe(models or catalogue.protocol_names(), output)
    if not models:
        models = ([binaries.mutant_scenario(name).protocol] if name
                  else catalogue.protocol_names())
    if (args.schedule or args.programs) and len(models) != 1:
        raise UserError("--schedule and --programs are for one model; name it")
    found = rows.ask_each(models, lambda model: _one(args, model, name, output), output, HEAD, _row)
    return 1 if any(row["verdict"] == "failed" for row in found) else 0


def _one(args, model: str, name: str, output) -> dict:
    engine = args.engine or (binaries.engine_of_schedule(args.schedule) if args.schedule
                             else "model")
    program = binaries.binary(model, args.subject, engine)
    flags = [f"--{key}={getattr(args, key)}" for key in ("bound", "executions", "seed")
             if getattr(args, key) is not None]
    if args.schedule:
        flags = [f"--schedule={args.schedule}", f"--times={args.times}"]
        flags += [f"--engine={args.engine}"] if args.engine else []
        flags += [f"--threads={args.threads}"] if args.threads else []
    else:
        flags += [f"--engine={engine}", f"--seconds={args.seconds}"]
        flags += _scenario(args, model, name).flags()
    row = {"protocol": model, "engine": engine, "threads": "", "programs": "", "shape": "",
           **binaries.ask(program, flags, args.seconds), "subject": args.subject}
    if row["verdict"] == "failed":
        _explain(args, row, program, output)
    elif args.schedule:
        output.text(f"{row['times']} runs without a failure; normalised: {row['schedule']}")
    return row


def _scenario(args, model: str, name: str) -> binaries.Scenario:
    if args.programs or args.shape:
        return binaries.Scenario(model, args.shape or "", args.programs or "", args.threads)
    if args.threads is not None:
        return binaries.Scenario(model, threads=args.threads)
    if name and binaries.mutant_scenario(name).protocol == model:
        return binaries.mutant_scenario(name)
    return binaries.Scenario(model, threads=binaries.DEFAULT_THREADS.get(model))


def _explain(args, row: dict, program: Path, output) -> None:
    """Prints a failure; replays and writes it if it has a schedule."""
    failure = row["failure"]
    output.text(f"{row['protocol']} on {args.subject} fails:"
                f" {schedules.words_of(failure)}")
    if failure["table"]:
        output.text(rows.table_text(failure["table"]))
    if failure.get("report"):
        output.text(failure["report"])
    if "schedule" not in failure:
        output.text("this engine cannot replay it; try --engine fibres or model\n")
        return
    times = int(args.times) if args.schedule else binaries.REPLAYS
    again = row if args.schedule else binaries.replay_rate(program, failure["schedule"], times)
    failure["replays"], failure["replays_failed"] = times, again.get("failures", 0)
    folder = args.out or build_root() / "interleave"
    path = interleave_repro.write(folder, row, args.subject)
    failure["program"] = str(path)
    output.text(f"schedule {failure['schedule']}: {failure['bytes']} bytes of choices"
                f" ({failure['schedule_bytes'] or 'none'})")
    output.text(f"replayed: fails {failure['replays_failed']} of {times} times;"
                f" as a program: {shown(path)}\n")


def _row(row: dict) -> list:
    graphs = "" if row["graphs"] is None else row["graphs"]
    start = f" from {row['shape']}" if row["shape"] else ""
    return [row["protocol"], row["engine"], row["threads"], row["programs"] + start, graphs,
            row["executions"], round(row["seconds"], 3), row["verdict"]]


def _describe(models: list[str], output) -> int:
    documents = [binaries.ask(binaries.binary(model, registry.DEFAULT, "model"), ["--describe"])
                 for model in models]
    for document in documents:
        output.text(f"{document['protocol']}: {document['sentence']};"
                    f" {document['threads_least']} to {document['threads_most']} threads")
        for kind in ("shapes", "ops"):
            words = [[row["name"], row["sentence"]] for row in document[kind]]
            output.text(table(words, [kind[:-1], ""]) + "\n")
    output.document(documents)
    return 0
