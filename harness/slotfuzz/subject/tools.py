"""Versions of the tools, and settings of the machine that disable ThreadSanitizer."""

import platform
import re
import resource
import subprocess
from pathlib import Path

from slotfuzz.subject import build, interpreter, registry

MMAP_RND_BITS = Path("/proc/sys/vm/mmap_rnd_bits")
# The most address randomization that each release of ThreadSanitizer's runtime supports. Since
# release 18 the runtime starts the process again without randomization, if that is allowed.
MMAP_RND_BITS_MAX = 28
RUNTIME_RELEASE_MIN = 18


def versions(tree: Path | None = None) -> dict[str, str]:
    """The version of each tool, and of the Python and the module in TREE."""
    from importlib import metadata  # slower than all other imports of `hunt -h` together

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
    """The reasons why ThreadSanitizer may not work on this machine, each with what to set."""
    # The runtime raises a soft limit by itself.
    _, limit = resource.getrlimit(resource.RLIMIT_AS)
    release = int(re.search(r"\d+", _first_line([build.compiler(), "--version"]) + " 0")[0])
    try:
        bits = int(MMAP_RND_BITS.read_text())
    except (OSError, ValueError):
        bits = 0
    return blind_reasons(None if limit == resource.RLIM_INFINITY else limit, bits, release)


def blind_reasons(limit_bytes: int | None, bits: int, release: int) -> list[str]:
    """The same for a hard limit of the address space, vm.mmap_rnd_bits, and clang's release."""
    reasons = []
    if limit_bytes is not None:
        reasons.append(f"the address space is limited to {limit_bytes:,} bytes, and ThreadSanitizer"
                       " needs terabytes; set, as root: ulimit -H -v unlimited")
    if bits > MMAP_RND_BITS_MAX and release < RUNTIME_RELEASE_MIN:
        reasons.append(f"vm.mmap_rnd_bits is {bits}, and the runtime of clang {release} supports"
                       f" at most {MMAP_RND_BITS_MAX};"
                       f" set: sysctl vm.mmap_rnd_bits={MMAP_RND_BITS_MAX},"
                       f" or install clang-{RUNTIME_RELEASE_MIN} or newer")
    return reasons


def _first_line(command: list[str]) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "missing"
    return next((line.strip() for line in result.stdout.splitlines() if "version" in line.lower()
                 or line[:1].isdigit() or line.startswith("Python")), "unknown")
