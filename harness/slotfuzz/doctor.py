"""Is every oracle awake? Each has a planted bug that it alone must report."""

import platform
import re
import resource
import subprocess
from pathlib import Path

from slotfuzz import build, channel, engine, options, subject
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.paths import from_root

PLANTED_SECONDS = 30
# For a line that is meant to hang.
HANGING_LINE_SECONDS = 1
# Which oracles can speak in which build: some in all of them.
EVERYWHERE = ("judge", "watchdog", "differential")
BUILDS = {
    "address": (*EVERYWHERE, "address", "undefined"),
    "thread": (*EVERYWHERE, "thread"),
    "debugpy": (*EVERYWHERE, "debugpy"),
    "none": EVERYWHERE,
}
# Planted for oracles that ask the core's own counters; torch has none.
CORE_ONLY = ("ledger",)
MMAP_RND_BITS = Path("/proc/sys/vm/mmap_rnd_bits")
# What every release of ThreadSanitizer's runtime can map around. From release 18 on it starts the
# process anew without randomization, where it may.
MMAP_RND_BITS_MAX = 28
RUNTIME_RELEASE_MIN = 18


def versions(tree: Path | None = None) -> dict[str, str]:
    """Versions of what builds and runs: one line per tool, and of the Python and torch of TREE."""
    from importlib import metadata  # costs more than all else that `hunt -h` imports

    found = {"python": platform.python_version()}
    compiler = build.compiler()
    for name, command in (("compiler", [compiler, "--version"]), ("cmake", ["cmake", "--version"]),
                          ("ninja", ["ninja", "--version"]),
                          ("symbolizer", [build.symbolizer() or "", "--version"]),
                          ("python3-dbg", ["/usr/bin/python3-dbg", "--version"]),
                          ("ccache", ["ccache", "--version"])):
        found[name] = _first_line(command)
    for package in ("hypothesis", "pytest", "rich"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "missing"
    if tree:
        about = subject.probe_python(subject.SYSTEM_PYTHON, tree)
        found |= {f"{name} in {tree}": about[key]
                  for name, key in (("python", "version"), ("torch", "torch"))}
    return found


def blindness() -> list[str]:
    """Why ThreadSanitizer may see nothing on this machine, each with what to set."""
    # A soft limit the runtime lifts by itself.
    _, limit = resource.getrlimit(resource.RLIMIT_AS)
    release = int(re.search(r"\d+", _first_line([build.compiler(), "--version"]) + " 0")[0])
    try:
        bits = int(MMAP_RND_BITS.read_text())
    except (OSError, ValueError):
        bits = 0
    return blind_reasons(None if limit == resource.RLIM_INFINITY else limit, bits, release)


def blind_reasons(limit_bytes: int | None, bits: int, release: int) -> list[str]:
    """The same for a hard limit of the address space, vm.mmap_rnd_bits and a release of clang."""
    reasons = []
    if limit_bytes is not None:
        reasons.append(f"the address space is limited to {limit_bytes:,} bytes, and ThreadSanitizer"
                       " needs terabytes; set, as root: ulimit -H -v unlimited")
    if bits > MMAP_RND_BITS_MAX and release < RUNTIME_RELEASE_MIN:
        reasons.append(f"vm.mmap_rnd_bits is {bits}, and the runtime of clang {release} copes with"
                       f" {MMAP_RND_BITS_MAX}; set: sysctl vm.mmap_rnd_bits={MMAP_RND_BITS_MAX},"
                       f" or install clang-{RUNTIME_RELEASE_MIN} or newer")
    return reasons


def plant_all(sanitizers: list[str], tree: Path | None = None) -> list[dict]:
    """Runs every planted bug of every build: build, planted, oracle, heard, words.

    In TREE, whose engine has no sanitizer, on the torch that is there.
    """
    rows = []
    name = "torch" if tree else "core"
    for sanitizer in sanitizers:
        target = options.default_target()
        chosen = subject.resolve(name, sanitizer, [target], with_python=False, tree=tree)
        for planted in _described(chosen, target).get("planted", []):
            if tree and planted["name"] in CORE_ONLY:
                continue
            if planted["oracle"] in BUILDS[sanitizer]:
                rows.append(plant(chosen, target, planted))
    return rows


def _described(chosen: subject.Subject, target: str) -> dict:
    """What the binary says of itself. If it cannot, on a machine that TSan cannot bear: that."""
    try:
        return engine.describe(chosen, target)
    except (BrokenError, MachineError) as error:
        reasons = blindness() if chosen.sanitizer == "thread" else []
        if not reasons:
            raise
        raise MachineError(f"{error}; {'; '.join(reasons)}") from error


def plant(chosen: subject.Subject, target: str, planted: dict) -> dict:
    """Runs one planted bug; heard if the process dies and says the expected words."""
    command = chosen.command(target, f"--planted={planted['name']}")
    if planted["oracle"] == "watchdog":
        command.append(f"--line-seconds={HANGING_LINE_SECONDS}")
    try:
        result = subprocess.run(channel.leashed(command), capture_output=True, check=False,
                                timeout=PLANTED_SECONDS, env=chosen.environment())
        code, text = result.returncode, from_root(result.stderr.decode(errors="replace"))
    except subprocess.TimeoutExpired as error:
        code, text = 0, (error.stderr or b"").decode(errors="replace")
    heard = code != 0 and planted["expect"] in text
    words = next((line.strip() for line in text.splitlines() if planted["expect"] in line), "")
    return {"build": chosen.sanitizer, "planted": planted["name"], "oracle": planted["oracle"],
            "heard": heard, "exit": code, "words": words[:100]}


def _first_line(command: list[str]) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "missing"
    return next((line.strip() for line in result.stdout.splitlines() if "version" in line.lower()
                 or line[:1].isdigit() or line.startswith("Python")), "unknown")
