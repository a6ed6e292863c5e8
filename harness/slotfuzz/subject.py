"""A subject: what `T` is in a program, with the binaries and the interpreter that run it.

`core` and `mutant:ID` are slotcore; `torch` is the PyTorch that an interpreter imports. `core`
keeps wrappers alive by the refcount-bit protocol, `core:resurrect` by resurrection; a mutant by the
one whose file it touches, else by refcount-bit.
"""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz import build, mutant
from slotfuzz.errors import MachineError, UserError, nearest
from slotfuzz.paths import ROOT

SYSTEM_PYTHON = "/usr/bin/python3"
SANITIZER_PRESETS = {
    "address": "address", "thread": "thread", "none": "plain", "debugpy": "debugpy",
}
# Of the two builds of the core, the folder in a preset's and the suffix of ninja targets.
PROTOCOL_FOLDERS = {"core": "", "core:resurrect": "resurrect"}
PROBE_SECONDS = 120
# Of another program's complaint; it may quote all that it was given.
WORDS_MAX = 120
# Our binaries carry their own; what /usr/lib/debug has is of CPython, and no signature names it.
NO_DEBUG_PACKAGES = "--debug-file-directory=/nonexistent"
FULL_STACKS = "fast_unwind_on_malloc=0:malloc_context_size=16"


@dataclass(frozen=True)
class Subject:
    """NAME as typed, MODULE that T is, FOLDER with targets/ and slotpython, how scripts run."""

    name: str
    module: str
    sanitizer: str
    preset: str
    folder: Path
    script_python: str
    import_paths: tuple[str, ...] = ()
    versions: dict = field(default_factory=dict, compare=False)

    @property
    def mutant(self) -> str:
        """The mutant's id, or an empty string."""
        return self.name.removeprefix("mutant:") if self.name.startswith("mutant:") else ""

    def target(self, name: str) -> Path:
        """The libFuzzer binary of target NAME."""
        return self.folder / "targets" / name

    def arguments(self) -> list[str]:
        """What each call of a target binary must be told about the subject."""
        return [f"--module={self.module}", *(f"--path={path}" for path in self.import_paths)]

    def environment(self, full_stacks: bool = False) -> dict[str, str]:
        """Environment of every process that runs programs of this subject.

        CPython has no frame pointers, so AddressSanitizer's allocation stacks end in it; with
        FULL_STACKS it unwinds them the slow way, which costs 0.3 s per start, and the symbolizer
        reads CPython's own debug information for each report.
        """
        environment = dict(os.environ)
        environment.pop("DEBUGINFOD_URLS", None)
        if full_stacks:
            own = environment.get("ASAN_OPTIONS")
            environment["ASAN_OPTIONS"] = ":".join(filter(None, [FULL_STACKS, own]))
        else:
            environment["LLVM_SYMBOLIZER_OPTS"] = NO_DEBUG_PACKAGES
        found = build.symbolizer()
        if found:
            environment.setdefault("ASAN_SYMBOLIZER_PATH", found)
            environment.setdefault("UBSAN_SYMBOLIZER_PATH", found)
            environment.setdefault("TSAN_OPTIONS", f"external_symbolizer_path={found}")
        environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
        for name in ("SLOTCORE_TRACE", "PYTHONPATH", "PYTHONHOME"):
            environment.pop(name, None)
        return environment

    def script_environment(self, full_stacks: bool = False) -> dict[str, str]:
        """Environment of a script in a fresh process. No sanitizer: freed memory is poisoned."""
        environment = self.environment(full_stacks)
        if self.sanitizer == "none":
            environment.update(PYTHONMALLOC="debug", MALLOC_PERTURB_="165")
        return environment


def target_names() -> list[str]:
    """The targets that run programs: one file each in targets/."""
    return [name for name in _target_files() if not _checks_protocol(name)]


def protocol_names() -> list[str]:
    """The targets that check a protocol: those that include harness/interleave/."""
    return [name for name in _target_files() if _checks_protocol(name)]


def _target_files() -> list[str]:
    return sorted(path.stem for path in (ROOT / "targets").glob("*.cc"))


def _checks_protocol(name: str) -> bool:
    return '#include "harness/interleave/' in (ROOT / "targets" / f"{name}.cc").read_text()


def must_fail(name: str) -> bool:
    """Whether the target's file says `must fail` in its first lines, as the canary's does."""
    text = (ROOT / "targets" / f"{name}.cc").read_text()
    return "must fail" in "".join(text.splitlines(keepends=True)[:6]).lower()


def mutant_names() -> list[str]:
    """The mutants that a program shows: patches in mutants/ whose target runs programs."""
    protocols = protocol_names()
    return [name for name in _patch_names() if mutant.read_header(name).target not in protocols]


def protocol_mutant_names() -> list[str]:
    """The mutants that an interleaving of a protocol shows."""
    protocols = protocol_names()
    return [name for name in _patch_names() if mutant.read_header(name).target in protocols]


def _patch_names() -> list[str]:
    return sorted(path.stem for path in (ROOT / "mutants").glob("*.patch"))


def check_target(name: str) -> str:
    """NAME, or UserError that names the nearest targets."""
    if name in protocol_names():
        raise UserError(f"{name} checks a protocol: ./slotfuzz interleave {name}")
    if name not in target_names():
        raise UserError(f"no target {name!r} in targets/; {nearest(name, target_names())}")
    return name


def check_mutant(name: str) -> str:
    """NAME, or UserError that names the nearest mutants that programs show."""
    if name in protocol_mutant_names():
        raise UserError(f"no program shows {name}, an interleaving does:"
                        f" ./slotfuzz interleave --subject mutant:{name}")
    if name not in mutant_names():
        raise UserError(f"no mutant {name!r} in mutants/; {nearest(name, mutant_names())}")
    return name


def resolve(
    name: str, sanitizer: str | None, targets: list[str], python: str | None = None,
    with_python: bool = True,
) -> Subject:
    """The subject NAME, built: its TARGETS and, WITH_PYTHON, its sanitized interpreter."""
    if name == "c10":
        raise UserError("c10 runs no programs, it is hunted by schedules:"
                        " ./slotfuzz interleave --subject c10")
    for target in targets:
        check_target(target)
    if name == "torch":
        return _torch(sanitizer or "none", targets, python or SYSTEM_PYTHON)
    if python:
        raise UserError("--python chooses whose torch is meant; it needs --subject torch")
    if name in PROTOCOL_FOLDERS:
        preset, part = SANITIZER_PRESETS[sanitizer or "address"], PROTOCOL_FOLDERS[name]
        wanted = [f"target-{target}" for target in targets] + ["slotpython"] * with_python
        folder = build.build(preset, [f"{one}-{part}" if part else one for one in wanted]) / part
    elif name.startswith("mutant:"):
        chosen = check_mutant(name.removeprefix("mutant:"))
        sanitizer = sanitizer or mutant.read_header(chosen).sanitizer
        preset = SANITIZER_PRESETS[sanitizer]
        folder = build.build(preset, [f"mutant-{chosen}"]) / "mutants" / chosen
    else:
        raise UserError(
            f"no subject {name!r}; {nearest(name, [*PROTOCOL_FOLDERS, 'torch', 'mutant:ID'])}")
    return Subject(name, "slotcore", sanitizer or "address", preset, folder,
                   str(folder / "slotpython"))


def _torch(sanitizer: str, targets: list[str], python: str) -> Subject:
    about = probe_python(python)
    preset = SANITIZER_PRESETS[sanitizer]
    other = None
    if about["version"] != probe_system_version():
        preset, other = f"plain-{about['version']}", python
    wanted = [f"target-{target}" for target in targets]
    folder = build.build(preset, wanted, other)
    return Subject("torch", "torch", sanitizer, preset, folder, python,
                   tuple(about["path"]),
                   {"torch": about["torch"], "python": about["version"]})


def probe_system_version() -> str:
    """Version of the interpreter that the presets embed, such as 3.11.2."""
    import platform

    return platform.python_version()


def probe_python(python: str) -> dict:
    """Asks the interpreter PYTHON for version, headers, path, torch; UserError if it lacks one."""
    path = Path(python)
    if not path.is_file() or not os.access(path, os.X_OK):
        raise UserError(f"--python {python}: no such program")
    script = (
        "import json,os,platform,sys,sysconfig\n"
        "print(json.dumps({'version': platform.python_version(),"
        " 'include': sysconfig.get_config_var('INCLUDEPY') or '',"
        " 'path': [os.path.abspath(p) for p in sys.path if p]}))\n"
    )
    about = json.loads(_ask(python, script, "is not a Python interpreter that runs"))
    if not (Path(about["include"]) / "Python.h").exists():
        raise UserError(f"{python} has no headers: {about['include']}/Python.h is missing;"
                        " install its -dev package")
    about["torch"] = _ask(
        python, "import torch\nprint(torch.__version__)\n", "cannot import torch").strip()
    return about


def _ask(python: str, script: str, problem: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        result = subprocess.run([python, "-c", script], capture_output=True, text=True,
                                timeout=PROBE_SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{python} {problem}: no answer in {PROBE_SECONDS} s") from error
    except OSError as error:
        raise MachineError(f"{python} does not start: {error.strerror}") from error
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines()
        why = lines[-1][:WORDS_MAX] if lines else f"exit code {result.returncode}"
        raise UserError(f"{python} {problem}: {why}")
    return result.stdout
