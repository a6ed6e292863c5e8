"""A subject: what `T` is in a program, with the binaries and the interpreter that run it.

Each file in subjects/ defines one kind of subject.
"""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from slotfuzz.errors import UserError
from slotfuzz.paths import OPS
from slotfuzz.schema.record import Finding
from slotfuzz.subject import build, registry, rootfs, tested
from slotfuzz.subject.capabilities import Capabilities, Wish
from slotfuzz.subject.catalogue import check_target
from slotfuzz.subject.mutant import Header
from slotfuzz.subject.sanitizers import SANITIZERS, Sanitizer
from slotfuzz.subject.tested import TestedFunction

# Our binaries contain their debug information. /usr/lib/debug has CPython's, but no signature names
# a function of CPython.
NO_DEBUG_PACKAGES = "--debug-file-directory=/nonexistent"
# glibc 2.41 and later do not overwrite memory in the cache of a thread, so there is no cache.
POISON_ENVIRONMENT = {"PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "165",
                      "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
ALLOCATION_FRAMES = 16
FULL_STACKS = f"fast_unwind_on_malloc=0:malloc_context_size={ALLOCATION_FRAMES}"


@dataclass(frozen=True)
class Subject:
    """NAME as typed, FOLDER with targets/, and the interpreter that runs scripts.

    The interpreter imports the module from IMPORT_PATHS. TREE is the Debian tree in which
    everything runs, or None for the system itself. Programs may call FUNCTION as `tested`.
    """

    name: str
    sanitizer: str
    preset: str
    folder: Path
    script_python: str
    import_paths: tuple[str, ...] = ()
    versions: dict = field(default_factory=dict, compare=False)
    tree: Path | None = None
    function: TestedFunction | None = None

    @property
    def capabilities(self) -> Capabilities:
        """The row of its kind."""
        return registry.find(self.name)

    @property
    def watch(self) -> Sanitizer:
        """The row of its sanitizer."""
        return SANITIZERS[self.sanitizer]

    @property
    def seeded(self) -> Header | None:
        """The header of the seeded bug; None if no bug is seeded."""
        return self.capabilities.header_of(self.name)

    @property
    def _release(self) -> str:
        return registry.release_in(self.name, self.versions)

    @property
    def _tested(self) -> str:
        return str(self.function or "")

    @property
    def label(self) -> str:
        """Its name and that of its function, which share no programs with other functions."""
        return " ".join(filter(None, [self.name, self._tested]))

    @property
    def edition(self) -> str:
        """Its name and release, such as `torch 2.6.0`; empty if it is built from this tree."""
        return f"{self.name} {self._release}" if self._release else ""

    def has_finding(self, record: Finding) -> bool:
        """Whether RECORD is a finding of this subject, of its release and of its function."""
        return (record.subject == self.name
                and record.versions.get(tested.KEY, "") == self._tested
                and registry.release_in(record.subject, record.versions) == self._release)

    def target(self, name: str) -> Path:
        """The libFuzzer binary of target NAME."""
        return self.folder / "targets" / name

    def command(self, target: str, *words) -> list[str]:
        """The command that starts the binary of TARGET on this subject with WORDS."""
        return [*rootfs.entering(self.tree), str(self.target(target)),
                f"--module={self.capabilities.module}",
                f"--ops={OPS}",
                *(f"--path={path}" for path in self.import_paths),
                *(self.function.flags() if self.function else []), *map(str, words)]

    def script_command(self, *words) -> list[str]:
        """The command that runs WORDS with the interpreter that can import the subject."""
        return [*rootfs.entering(self.tree), self.script_python, *map(str, words)]

    def environment(self, full_stacks: bool = False) -> dict[str, str]:
        """Environment of every process that runs programs of this subject.

        CPython has no frame pointers, so AddressSanitizer's allocation stacks end at its first
        frame. With FULL_STACKS the slow unwinder completes them, which takes 0.5 s per start, and
        the symbolizer reads CPython's debug information for each report.
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
        # UCX, which PyTorch links, would handle a crash, print a stack for a minute, and exit.
        environment.setdefault("UCX_HANDLE_ERRORS", "none")
        environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
        for name in (self.capabilities.trace_variable, "PYTHONPATH", "PYTHONHOME"):
            environment.pop(name, None)
        return environment

    def plain_environment(self) -> dict[str, str]:
        """Environment of a script as a user runs it: no variable of ours, if no sanitizer is used.
        """
        if not self.watch.poisons_freed_memory:
            return self.script_environment()
        ours = (*POISON_ENVIRONMENT, "PYTHONPATH", "PYTHONHOME")
        return {name: value for name, value in os.environ.items() if name not in ours}

    def script_environment(self, full_stacks: bool = False) -> dict[str, str]:
        """Environment of a script in a fresh process."""
        environment = self.environment(full_stacks)
        if self.watch.poisons_freed_memory:
            environment.update(POISON_ENVIRONMENT)
        return environment


def resolve(
    name: str, sanitizer: str | None, targets: list[str], python: str | None = None,
    with_python: bool = True, tree: Path | None = None, function: TestedFunction | None = None,
) -> Subject:
    """Builds TARGETS of the subject NAME and, WITH_PYTHON, its sanitized interpreter.

    PYTHON and TREE (a checked --rootfs) choose the interpreter of an installed subject. Programs
    may call FUNCTION.
    """
    capabilities = registry.find(name)
    for target in targets:
        check_target(target)
    for option in ["--python"] * bool(python) + ["--rootfs"] * bool(tree):
        if not capabilities.is_installed:
            others = " or ".join(registry.installed_names())
            raise UserError(f"{option} chooses the interpreter that has {others};"
                            f" it needs --subject {others}")
    made = capabilities.make(Wish(name, sanitizer, targets, python, with_python, tree))
    if function is None:
        return made
    return replace(made, function=function,
                   versions={**made.versions, tested.KEY: str(function)})
