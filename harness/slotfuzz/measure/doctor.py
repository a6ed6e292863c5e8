"""Checks that every oracle works: each must report its own planted bug."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from slotfuzz.engine import channel, server
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.paths import from_root
from slotfuzz.subject import catalogue, registry, subject
from slotfuzz.subject.tools import blindness

PLANTED_SECONDS = 30
# The time limit of a line, for a planted bug that hangs.
HANGING_LINE_SECONDS = 1
# Bugs for the checks that ask what only our core answers: what lives, which mode a thread is in,
# and what its descriptions, their text, its guards and its graphs say.
CORE_ONLY = ("ledger", "hermetic-left", "wrong-byte-set", "kept-fake", "unsound-guard",
             "address-in-text", "text-misread", "wrong-shape-rule", "write-not-traced")


def plant_all(sanitizers: list[str], tree: Path | None = None) -> list[dict]:
    """Runs every planted bug of every build: build, planted, oracle, heard, words.

    With TREE, whose engine has no sanitizer, on the module that is installed there.
    """
    bugs = []
    name = registry.installed_names()[0] if tree else registry.DEFAULT
    for sanitizer in sanitizers:
        target = catalogue.default_target()
        chosen = subject.resolve(name, sanitizer, [target], with_python=False, tree=tree)
        for planted in _described(chosen, target).get("planted", []):
            if planted["name"] in CORE_ONLY and not chosen.capabilities.is_counted:
                continue
            if planted["oracle"] in chosen.watch.oracles:
                bugs.append((chosen, target, planted))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda bug: plant(*bug), bugs))


def _described(chosen: subject.Subject, target: str) -> dict:
    """The binary's description of itself.

    If it cannot start because the machine disables ThreadSanitizer, the error says that.
    """
    try:
        return server.describe(chosen, target)
    except (BrokenError, MachineError) as error:
        reasons = blindness() if chosen.watch.can_be_blind else []
        if not reasons:
            raise
        raise MachineError(f"{error}; {'; '.join(reasons)}") from error


def plant(chosen: subject.Subject, target: str, planted: dict) -> dict:
    """Runs one planted bug; `heard` if the process fails and prints the expected words."""
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


