"""Is every oracle awake? Each has a planted bug that it alone must report."""

import platform
import subprocess
from importlib import metadata

from slotfuzz import build, engine, options, subject
from slotfuzz.paths import from_root

PLANTED_SECONDS = 30
# Which oracles can speak in which build. The judge speaks in all of them.
BUILDS = {
    "address": ("judge", "address", "undefined"),
    "thread": ("judge", "thread"),
    "debugpy": ("judge", "debugpy"),
    "none": ("judge",),
}


def versions() -> dict[str, str]:
    """Versions of what builds and runs: one line per tool."""
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
    return found


def plant_all(sanitizers: list[str]) -> list[dict]:
    """Runs every planted bug of every build: build, planted, oracle, heard, words."""
    rows = []
    for sanitizer in sanitizers:
        target = options.default_target()
        chosen = subject.resolve("core", sanitizer, [target], with_python=False)
        for planted in engine.describe(chosen, target).get("planted", []):
            if planted["oracle"] in BUILDS[sanitizer]:
                rows.append(plant(chosen, target, planted))
    return rows


def plant(chosen: subject.Subject, target: str, planted: dict) -> dict:
    """Runs one planted bug; heard if the process dies and says the expected words."""
    command = [str(chosen.target(target)), *chosen.arguments(), f"--planted={planted['name']}"]
    try:
        result = subprocess.run(engine.leashed(command), capture_output=True, check=False,
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
