"""Builds targets for a fuzzing fleet, with all files that they need on a minimal system.

The variables that OSS-Fuzz and ClusterFuzzLite set choose compiler, flags, sanitizer, engine and
folders (docs/fleets.md). Without them OUT is build/fuzz-out.
"""

import os
import shutil
import sys

from slotfuzz import cli
from slotfuzz.ci import fleet, fleet_out
from slotfuzz.errors import UserError, nearest
from slotfuzz.paths import ROOT, shown
from slotfuzz.subject import catalogue, mutant

NAME = "ci/fuzz_build.sh"
EXAMPLE = "SANITIZER=undefined ci/fuzz_build.sh storage claim"


def add_arguments(parser) -> None:
    """The options of the build."""
    parser.add_argument("targets", nargs="*", metavar="TARGET",
                        help="by default all but the canary")
    parser.add_argument("--mutant", metavar="ID",
                        help="build the targets with the bug of mutants/ID.patch")


def run(args, output) -> int:
    """Builds and fills OUT; 0."""
    wish, targets = fleet.wish_of(os.environ), _targets(args)
    binaries = fleet.make(wish, targets, args.mutant)
    if not os.environ.get("OUT"):
        # This is our own folder, which may have files of a build for another fleet.
        shutil.rmtree(wish.out, ignore_errors=True)
    fleet_out.fill(wish.out, binaries, ROOT / "corpus")
    if wish.engine == "afl" and not os.environ.get("LIB_FUZZING_ENGINE"):
        fleet.add_mutators(wish, targets)
    output.text(f"{len(binaries)} targets for {wish.engine} with {wish.sanitizer}"
                f" in {shown(wish.out)}")
    output.document({"out": str(wish.out), "engine": wish.engine, "sanitizer": wish.sanitizer,
                     "targets": targets})
    return 0


def _targets(args) -> list[str]:
    """The named targets; by default all but the canary, or the target of the mutant."""
    known = [*catalogue.target_names(), *catalogue.protocol_names()]
    for name in args.targets:
        if name not in known:
            raise UserError(f"no target {name!r} in targets/; {nearest(name, known)}")
    if args.mutant:
        mutants = catalogue.mutant_names() + catalogue.protocol_mutant_names()
        if args.mutant not in mutants:
            raise UserError(f"no mutant {args.mutant!r}; {nearest(args.mutant, mutants)}")
        return args.targets or [mutant.read_header(args.mutant).target]
    return args.targets or catalogue.fuzzable_targets() + catalogue.protocol_names()


if __name__ == "__main__":
    sys.exit(cli.script(NAME, sys.modules[__name__], sys.argv[1:]))
