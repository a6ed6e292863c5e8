"""Builds targets for a fuzzing fleet, as its environment variables say, or with our defaults.

OSS-Fuzz and ClusterFuzzLite set CC, CXX, CFLAGS, CXXFLAGS, SANITIZER, FUZZING_ENGINE,
LIB_FUZZING_ENGINE, ARCHITECTURE, OUT, SRC and WORK, as their base-builder image documents. CXXFLAGS
is used unchanged, since it contains the flags of the sanitizer and of the engine's coverage. CC is
unused, since there is no C code.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.errors import MachineError, UserError, nearest
from slotfuzz.paths import ROOT, build_root
from slotfuzz.subject import build, catalogue

# Defaults without CXXFLAGS. `address` omits UBSan, since fleets reject builds with two sanitizers.
OWN_FLAGS = "-O1 -fno-omit-frame-pointer -gline-tables-only"
SANITIZER_FLAGS = {
    "address": "-fsanitize=address -fsanitize-address-use-after-scope",
    "undefined": "-fsanitize=undefined -fno-sanitize-recover=all",
    "thread": "-fsanitize=thread",
    "coverage": "-fprofile-instr-generate -fcoverage-mapping",
}
# For each engine: flags for coverage, what to link, and the compiler if it is not the project's.
ENGINES = {
    "libfuzzer": ("-fsanitize=fuzzer-no-link", "-fsanitize=fuzzer", None),
    "afl": ("", "/usr/lib/afl/libAFLDriver.a", "afl-clang-fast++"),
}
# Only the core guides the search, as CMakeLists.txt does for libFuzzer.
AFL_DENY = "src:*/harness/*\nsrc:*/targets/*\n"


@dataclass(frozen=True)
class Wish:
    """What to build with: compiler, all its flags, sanitizer, engine, and folders."""

    compiler: str
    flags: str
    sanitizer: str
    engine: str
    engine_link: str
    work: Path
    out: Path

    @property
    def folder(self) -> Path:
        """The build folder: one for each sanitizer and engine."""
        return self.work / f"fleet-{self.sanitizer}-{self.engine}"


def wish_of(variables: Mapping[str, str]) -> Wish:
    """What the environment VARIABLES ask for. UserError if it cannot be built here."""
    architecture = variables.get("ARCHITECTURE") or platform.machine()
    if architecture != platform.machine():
        raise UserError(f"ARCHITECTURE={architecture}: no cross builds; CPython's library here is"
                        f" for {platform.machine()}")
    sanitizer = variables.get("SANITIZER") or "address"
    if sanitizer not in SANITIZER_FLAGS:
        raise UserError(f"SANITIZER={sanitizer} cannot be built (MemorySanitizer would need an"
                        f" instrumented CPython); {nearest(sanitizer, [*SANITIZER_FLAGS])}")
    engine = variables.get("FUZZING_ENGINE") or "libfuzzer"
    counting, link, compiler = ENGINES.get(engine, ("", variables.get("LIB_FUZZING_ENGINE"), None))
    if not link:
        raise UserError(f"FUZZING_ENGINE={engine} needs LIB_FUZZING_ENGINE;"
                        f" without it: {', '.join(ENGINES)}")
    flags = " ".join([OWN_FLAGS, SANITIZER_FLAGS[sanitizer], counting * (sanitizer != "coverage")])
    work, out = variables.get("WORK"), variables.get("OUT")
    return Wish(
        variables.get("CXX") or compiler or build.compiler(),
        variables.get("CXXFLAGS") or variables.get("CFLAGS") or flags.strip(),
        sanitizer, engine, variables.get("LIB_FUZZING_ENGINE") or link,
        Path(work) if work else build_root(), Path(out) if out else build_root() / "fuzz-out")


def make(wish: Wish, targets: list[str], mutant_id: str | None) -> list[Path]:
    """Configures from scratch, since flags may have changed, and builds the binaries of TARGETS."""
    wish.folder.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    if wish.engine == "afl":
        denied = wish.folder / "afl-deny.txt"
        denied.write_text(AFL_DENY)
        environment.update(AFL_LLVM_DENYLIST=str(denied), AFL_QUIET="1")
    if mutant_id:
        build.add_mutant(wish.folder, mutant_id, targets)
    ccache = shutil.which("ccache")
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}"] if ccache else []
    _run(["cmake", "--fresh", "-G", "Ninja", "-S", ROOT, "-B", wish.folder, *launcher,
          f"-DCMAKE_CXX_COMPILER={wish.compiler}", f"-DCMAKE_CXX_FLAGS={wish.flags}",
          "-DSLOTFUZZ_SANITIZER=fleet", f"-DSLOTFUZZ_FUZZING_ENGINE={wish.engine_link}",
          f"-DSLOTFUZZ_PYTHON={sys.executable}"], environment)
    if mutant_id:
        made = wish.folder / "mutants" / mutant_id / "targets"
        wanted = [f"{name}-{mutant_id}" for name in targets]
    else:
        made, wanted = wish.folder / "targets", [f"target-{name}" for name in targets]
    _run(["ninja", "-C", wish.folder, *wanted], environment)
    return [made / name for name in targets]


def add_mutators(wish: Wish, targets: list[str]) -> None:
    """Builds the mutators of TARGETS as libraries for afl-fuzz and copies them to OUT/lib.

    A fleet's afl-fuzz loads no such libraries, so this is for builds without a fleet.
    """
    programs = [name for name in targets if name in catalogue.target_names()]
    folder = build.build("plain", [f"afl-{name}" for name in programs]) / "afl"
    for name in programs:
        shutil.copy2(folder / f"{name}.so", wish.out / "lib" / f"{name}-mutator.so")


def _run(command: list, environment: dict) -> None:
    """Runs COMMAND with its output on stderr, since a fleet shows the log of a build."""
    words = [str(word) for word in command]
    try:
        code = subprocess.run(words, env=environment, stdout=sys.stderr, check=False).returncode
    except FileNotFoundError as error:
        raise MachineError(f"{words[0]} is missing") from error
    if code:
        raise MachineError(f"{words[0]} ended with {code}")
