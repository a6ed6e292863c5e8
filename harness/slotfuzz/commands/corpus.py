"""Maintains a corpus: merge distils it, check replays it in shuffled orders, format rewrites it.

check: each order must reach the same features; otherwise programs influence each other. Programs
whose features depend on when other threads run are replayed, but not compared.
"""

from pathlib import Path

from slotfuzz import options
from slotfuzz.engine.server import Server
from slotfuzz.errors import UserError
from slotfuzz.finding import finding
from slotfuzz.hunt import corpus
from slotfuzz.hunt.workplace import default_corpus
from slotfuzz.paths import shown
from slotfuzz.subject import catalogue, registry

EXAMPLE = "./slotfuzz corpus check corpus/storage --sanitizer thread"


def add_arguments(parser) -> None:
    """The options of corpus."""
    parser.add_argument("action", choices=["merge", "check", "format"])
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR",
                        help="build/corpus/<subject>/<target> by default")
    parser.add_argument("--from", dest="sources", nargs="+", type=Path, default=[], metavar="DIR",
                        help="merge: add the programs of these folders")
    options.add_subject(parser)
    options.add_target(parser, "the target that DIR is named for")


def run(args, output) -> int:
    """Does one action on one folder."""
    name = args.subject or registry.DEFAULT
    target = args.target
    if target is None and args.folder and args.folder.name in catalogue.target_names():
        target = args.folder.name
    target = target or catalogue.default_target()
    wish = options.Meant(name, args.sanitizer, target)
    chosen = options.resolve(args, wish, with_python=False)
    folder = args.folder or default_corpus(chosen, target)
    corpus.clear_up(folder)
    for place in (folder, *args.sources):
        if not place.is_dir():
            raise UserError(f"no such folder: {place}")
    return {"merge": _merge, "check": _check, "format": _format}[args.action](
        chosen, target, folder, args.sources, output)


def _merge(chosen, target, folder, sources, output) -> int:
    finding.check_writable(folder)
    before, after = corpus.merge(chosen, target, folder, sources)
    output.text(f"{shown(folder)}: {before} files -> {after}")
    output.document({"folder": str(folder), "before": before, "after": after})
    return 0


def _check(chosen, target, folder, sources, output):
    if not any(folder.iterdir()):
        raise UserError(f"{folder} holds no file")
    with Server(chosen, target) as server:
        timed = corpus.timed_programs(server, folder)
    orders = corpus.replay_shuffled(chosen, target, folder)
    is_clean = not any(order["exit"] for order in orders)
    if timed and is_clean:
        output.text(f"clean in every order; compared without timed programs: {len(timed)}")
        orders = corpus.replay_without(chosen, target, folder, timed)
    for order in orders:
        output.text(f"seed {order['seed']}: {order['words']}")
    output.document({"folder": str(folder), "orders": orders, "timed": sorted(timed)})
    if any(order["exit"] for order in orders):
        return 1
    same = len({order["words"] for order in orders}) <= 1
    output.text(_compared(orders, same))
    return 0 if same else 3


def _compared(orders, same):
    if not orders:
        return "no program is left to compare"
    return "the same features in every order" if same else "features DIFFER between orders"


def _format(chosen, target, folder, sources, output) -> int:
    finding.check_writable(folder)
    with Server(chosen, target) as server:
        changed, dropped = corpus.format_folder(server, folder)
    output.text(f"{shown(folder)}: {len(changed)} files rewritten, {dropped} lines dropped")
    output.document({"folder": str(folder), "changed": changed, "dropped": dropped})
    return 0
