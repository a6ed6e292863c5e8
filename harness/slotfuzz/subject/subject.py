"""A subject: what `T` is in a program, with the binaries and the interpreter that run it.

`core` and `mutant:ID` are slotcore; `torch` is the PyTorch that an interpreter imports. `core`
keeps wrappers alive by the refcount-bit protocol, `core:resurrect` by resurrection; a mutant by the
one whose file it touches, else by refcount-bit.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz.errors import MachineError, UserError, nearest
from slotfuzz.evidence import signature
from slotfuzz.subject import build, mutant, rootfs
from slotfuzz.subject.catalogue import check_mutant, check_target

SYSTEM_PYTHON = "/usr/bin/python3"
SANITIZER_PRESETS = {
    "address": "address", "thread": "thread", "none": "plain", "debugpy": "debugpy",
}
# Of the two builds of the core, the folder in a preset's and the suffix of ninja targets.
PROTOCOL_FOLDERS = {"core": "", "core:resurrect": "resurrect"}
PROBE_SECONDS = 120
# What the engine's embedding of CPython is written for.
PYTHON_MIN = (3, 11)
NO_PYTHON = "is not a Python interpreter that runs"
# Of another program's complaint; it may quote all that it was given.
WORDS_MAX = 120
# Our binaries carry their own; what /usr/lib/debug has is of CPython, and no signature names it.
NO_DEBUG_PACKAGES = "--debug-file-directory=/nonexistent"
# glibc from 2.41 on leaves what it caches per thread as it was.
POISON_ENVIRONMENT = {"PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "165",
                      "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
ALLOCATION_FRAMES = 16
FULL_STACKS = f"fast_unwind_on_malloc=0:malloc_context_size={ALLOCATION_FRAMES}"


@dataclass(frozen=True)
class Subject:
    """NAME as typed, MODULE that T is, FOLDER with targets/ and slotpython, how scripts run.

    TREE is the Debian tree that everything runs in, if it is not the system itself.
    """

    name: str
    module: str
    sanitizer: str
    preset: str
    folder: Path
    script_python: str
    import_paths: tuple[str, ...] = ()
    versions: dict = field(default_factory=dict, compare=False)
    tree: Path | None = None

    @property
    def release(self) -> str:
        """Which PyTorch it is, such as 2.6.0; an empty string for slotcore."""
        return self.versions.get("torch", "").partition("+")[0]

    @property
    def mutant(self) -> str:
        """The mutant's id, or an empty string."""
        return self.name.removeprefix("mutant:") if self.name.startswith("mutant:") else ""

    def target(self, name: str) -> Path:
        """The libFuzzer binary of target NAME."""
        return self.folder / "targets" / name

    def command(self, target: str, *words) -> list[str]:
        """What starts the binary of TARGET on this subject with WORDS."""
        return [*rootfs.entering(self.tree), str(self.target(target)), f"--module={self.module}",
                *(f"--path={path}" for path in self.import_paths), *map(str, words)]

    def script_command(self, *words) -> list[str]:
        """What runs a script with the interpreter that has the subject."""
        return [*rootfs.entering(self.tree), self.script_python, *map(str, words)]

    def environment(self, full_stacks: bool = False) -> dict[str, str]:
        """Environment of every process that runs programs of this subject.

        CPython has no frame pointers, so AddressSanitizer's allocation stacks end in it; with
        FULL_STACKS it unwinds them the slow way, which costs 0.5 s per start, and the symbolizer
        reads CPython's own debug information for each report.
        """
        environment = dict(os.environ)
        environment.pop("DEBUGINFOD_URLS", None)
        if full_stacks:
            own = environment.get("ASAN_OPTIONS")
            environment["ASAN_OPTIONS"] = ":".join(filter(None, [FULL_STACKS, own]))
        else:
            environment["LLVM_SYMBOLIZER_OPTS"] = NO_DEBUG_PACKAGES
        found = build.symbolizer(self.tree)
        if found:
            environment.setdefault("ASAN_SYMBOLIZER_PATH", found)
            environment.setdefault("UBSAN_SYMBOLIZER_PATH", found)
            environment.setdefault("TSAN_OPTIONS", f"external_symbolizer_path={found}")
        # A library that PyTorch links would handle a crash, print a stack for a minute, and exit.
        environment.setdefault("UCX_HANDLE_ERRORS", "none")
        environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
        for name in ("SLOTCORE_TRACE", "PYTHONPATH", "PYTHONHOME"):
            environment.pop(name, None)
        return environment

    def script_environment(self, full_stacks: bool = False) -> dict[str, str]:
        """Environment of a script in a fresh process. No sanitizer: freed memory is poisoned."""
        environment = self.environment(full_stacks)
        if self.sanitizer == "none":
            environment.update(POISON_ENVIRONMENT)
        return environment


def resolve(
    name: str, sanitizer: str | None, targets: list[str], python: str | None = None,
    with_python: bool = True, tree: Path | None = None,
) -> Subject:
    """The subject NAME, built: its TARGETS and, WITH_PYTHON, its sanitized interpreter.

    PYTHON and TREE (a checked --rootfs) say whose torch is meant.
    """
    if name == "c10":
        raise UserError("c10 runs no programs, it is hunted by schedules:"
                        " ./slotfuzz interleave --subject c10")
    for target in targets:
        check_target(target)
    if name == "torch":
        return _torch(sanitizer or "none", targets, python or SYSTEM_PYTHON, tree)
    for option in ["--python"] * bool(python) + ["--rootfs"] * bool(tree):
        raise UserError(f"{option} chooses whose torch is meant; it needs --subject torch")
    if name in PROTOCOL_FOLDERS:
        preset, part = SANITIZER_PRESETS[sanitizer or "address"], PROTOCOL_FOLDERS[name]
        wanted = [f"target-{target}" for target in targets] + ["slotpython"] * with_python
        folder = build.build(preset, [f"{one}-{part}" if part else one for one in wanted]) / part
    elif name.startswith("mutant:"):
        chosen = check_mutant(name.removeprefix("mutant:"))
        sanitizer = sanitizer or mutant.read_header(chosen).sanitizer
        preset = SANITIZER_PRESETS[sanitizer]
        wanted = [*targets, *["slotpython"] * with_python]
        folder = build.build(preset, [f"{one}-{chosen}" for one in wanted]) / "mutants" / chosen
    else:
        raise UserError(
            f"no subject {name!r}; {nearest(name, [*PROTOCOL_FOLDERS, 'torch', 'mutant:ID'])}")
    return Subject(name, "slotcore", sanitizer or "address", preset, folder,
                   str(folder / "slotpython"))


def _torch(sanitizer: str, targets: list[str], python: str, tree: Path | None) -> Subject:
    about = probe_python(python, tree)
    preset = SANITIZER_PRESETS[sanitizer]
    other = None
    if tree or about["version"] != probe_system_version():
        if sanitizer != "none":
            raise UserError("another Python than the system's is hunted without a sanitizer;"
                            " leave out --sanitizer")
        preset, other = f"plain-{about['version']}{_mark(tree)}", python
    wanted = [f"target-{target}" for target in targets]
    folder = build.build(preset, wanted, other, tree)
    return Subject("torch", "torch", sanitizer, preset, folder, python,
                   tuple(about["path"]),
                   {"torch": about["torch"], "python": about["version"]}, tree)


def _mark(tree: Path | None) -> str:
    """The end of a build folder's name: engines of two trees may need different libraries."""
    return f"-{hashlib.sha256(str(tree).encode()).hexdigest()[:6]}" if tree else ""


def probe_system_version() -> str:
    """Version of the interpreter that the presets embed, such as 3.11.2."""
    import platform

    # An installed driver may run with another one.
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM_PYTHON):
        return platform.python_version()
    script = "import platform; print(platform.python_version())"
    return _ask(SYSTEM_PYTHON, None, script, "is not a Python interpreter that runs").strip()


def probe_python(python: str, tree: Path | None = None) -> dict:
    """Asks the interpreter PYTHON for version, headers, path, torch; UserError if it lacks one."""
    path = Path(python)
    if tree:
        if rootfs.which(tree, path.name) != python:
            raise UserError(f"--rootfs {tree} has no {python}; ci/torch_rootfs.sh installs it")
    elif not path.is_file() or not os.access(path, os.X_OK):
        raise UserError(f"--python {python}: no such program")
    script = (
        "import json,os,platform,sys,sysconfig\n"
        "print(json.dumps({'version': platform.python_version(),"
        " 'include': sysconfig.get_config_var('INCLUDEPY') or '',"
        " 'path': [os.path.abspath(p) for p in sys.path if p]}))\n"
    )
    about = _read_answer(_ask(python, tree, script, NO_PYTHON), _named(python, tree))
    if tuple(map(int, re.findall(r"\d+", about["version"])[:2])) < PYTHON_MIN:
        raise UserError(f"{_named(python, tree)} is Python {about['version']}; the engine needs"
                        f" {'.'.join(map(str, PYTHON_MIN))} or newer")
    headers = Path(about["include"]) / "Python.h"
    if not (tree / str(headers).lstrip("/") if tree else headers).exists():
        raise UserError(f"{_named(python, tree)} has no headers: {headers} is missing;"
                        " install its -dev package")
    about["torch"] = _ask(
        python, tree, "import torch\nprint(torch.__version__)\n", "cannot import torch").strip()
    return about


def _read_answer(answer: str, name: str) -> dict:
    """What the interpreter NAME has told of itself; UserError if it is none, as /bin/true."""
    try:
        about = json.loads(answer)
    except ValueError:
        about = None
    if not isinstance(about, dict) or not {"version", "include", "path"} <= about.keys():
        raise UserError(f"{name} {NO_PYTHON}: it answers {answer[:WORDS_MAX].strip()!r}")
    return about


def _named(python: str, tree: Path | None) -> str:
    return f"{python} in {tree}" if tree else python


def _why(result: subprocess.CompletedProcess) -> str:
    """Why an interpreter gave no answer: its last word, or how it died."""
    if result.returncode < 0:
        return f"it dies of {signature.signal_name(-result.returncode)}"
    lines = result.stderr.strip().splitlines()
    return lines[-1][:WORDS_MAX] if lines else f"exit code {result.returncode}"


def _ask(python: str, tree: Path | None, script: str, problem: str) -> str:
    command, name = [*rootfs.entering(tree), python, "-c", script], _named(python, tree)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        result = subprocess.run(command, capture_output=True, text=True,
                                timeout=PROBE_SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{name} {problem}: no answer in {PROBE_SECONDS} s") from error
    except OSError as error:
        raise MachineError(f"{name} does not start: {error.strerror}") from error
    if result.returncode != 0:
        raise UserError(f"{name} {problem}: {_why(result)}")
    return result.stdout
