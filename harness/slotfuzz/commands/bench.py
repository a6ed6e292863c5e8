"""Runs the benchmarks: the scripts of bench/, each prints its own table."""

import subprocess

from slotfuzz.errors import UserError, nearest
from slotfuzz.paths import ROOT
from slotfuzz.subject import SYSTEM_PYTHON

EXAMPLE = "./slotfuzz bench throughput"


def add_arguments(parser) -> None:
    """The options of bench."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="all by default")


def run(args, output) -> int:
    """Runs scripts one after the other; stops at the first that fails."""
    known = sorted(path.stem for path in (ROOT / "bench").glob("[a-z]*.py"))
    for name in args.names:
        if name not in known:
            raise UserError(f"no benchmark {name!r} in bench/; {nearest(name, known)}")
    results = {}
    for name in args.names or known:
        command = [SYSTEM_PYTHON, str(ROOT / "bench" / f"{name}.py")]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT)
        output.text(result.stdout.rstrip())
        results[name] = {"exit": result.returncode, "output": result.stdout.splitlines()}
    output.document(results)
    return 2 if any(result["exit"] for result in results.values()) else 0
