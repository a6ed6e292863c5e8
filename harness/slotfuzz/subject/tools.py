"""Versions of the tools, and why ThreadSanitizer may see nothing on this machine."""

import platform
import re
import resource
import subprocess
from pathlib import Path

from slotfuzz.subject import build, interpreter, registry

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
        module = registry.find(registry.installed_names()[0]).module
        about = interpreter.probe(interpreter.SYSTEM_PYTHON, module, tree)
        found |= {f"{name} in {tree}": about[key]
                  for name, key in (("python", "version"), (module, "module"))}
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


def _first_line(command: list[str]) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "missing"
    return next((line.strip() for line in result.stdout.splitlines() if "version" in line.lower()
                 or line[:1].isdigit() or line.startswith("Python")), "unknown")
