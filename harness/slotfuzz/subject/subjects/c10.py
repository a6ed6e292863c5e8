"""c10: the C++ headers of an installed libtorch, built into a target of their own.

It runs no programs: slotfuzz.interleave fuzzes schedules of its claim, count and disarm code.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.console import say
from slotfuzz.errors import MachineError, UserError
from slotfuzz.paths import ROOT, build_root
from slotfuzz.subject import build
from slotfuzz.subject.capabilities import Capabilities

CAPABILITIES = Capabilities(
    module="", make=None, interleaved=("c10",), is_fuzzed_by_schedule=True,
)
ROOT_FOLDER = Path("/")
TREE_MARK = ".slotfuzz-bootstrapped"
HEADER = Path("usr/include/c10/core/TensorImpl.h")
RELEASE_HEADER = "torch/csrc/api/include/torch/version.h"
# After a race the target goes on, to print the schedule. libFuzzer handles signals, since it saves
# the input and ThreadSanitizer does not.
THREAD_OPTIONS = "halt_on_error=0:report_signal_unsafe=0:handle_segv=0:handle_sigbus=0"
# AddressSanitizer's fake stack frames do not work on the stacks of fibres.
ADDRESS_OPTIONS = "detect_stack_use_after_return=0"
UNDEFINED_OPTIONS = "print_stacktrace=1:halt_on_error=1"


@dataclass(frozen=True)
class Place:
    """Where libtorch is installed: here, or in a TREE of ci/torch_rootfs.sh."""

    tree: Path | None = None

    def binary(self, sanitizer: str) -> str:
        """Builds the target, after prepare(); its path as processes in this place see it."""
        if self.tree:
            return f"/slotfuzz/c10/build/c10/{sanitizer}/c10"
        # The build folder may have been configured before libtorch was installed.
        if "target-c10" not in build.ninja_targets(sanitizer):
            build.build(sanitizer, ["rebuild_cache"])
        return str(build.build(sanitizer, ["target-c10"]) / "targets" / "c10")

    def headers(self) -> Path:
        """The folder of the headers that the binary was compiled with."""
        return (self.tree or ROOT_FOLDER) / "usr/include"

    def release(self) -> str:
        """The release of libtorch, such as 2.6, from its headers; `unknown` without that header."""
        path = self.headers() / RELEASE_HEADER
        text = path.read_text(errors="replace") if path.exists() else ""
        return ".".join(re.findall(r"TORCH_VERSION_(?:MAJOR|MINOR) (\d+)", text)) or "unknown"

    def prepare(self) -> None:
        """Checks that libtorch is installed; for a tree, copies the sources to it and builds."""
        if self.tree and not (self.tree / TREE_MARK).exists():
            raise UserError(f"{self.tree} is not a tree; make one with ci/torch_rootfs.sh")
        include = (self.tree or ROOT_FOLDER) / HEADER
        if not include.exists():
            raise UserError(f"libtorch has no headers here ({include} is missing):"
                            " apt-get install libtorch-dev")
        if not self.tree:
            return
        say(f"building the c10 target in {self.tree}")
        command = [str(ROOT / "ci" / "c10.sh"), "--root", str(self.tree), "--build"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            lines = (result.stderr or result.stdout).strip().splitlines() or ["no message"]
            raise MachineError(f"no build in {self.tree}: {lines[-1]}")

    def folder(self) -> Path:
        """An existing folder for inputs, which commands of this place can read."""
        path = self.tree / "slotfuzz/c10" if self.tree else build_root()
        path.mkdir(parents=True, exist_ok=True)
        return path

    def inside(self, path: Path) -> str:
        """PATH as commands of this place say it."""
        return f"/{path.relative_to(self.tree)}" if self.tree else str(path)

    def start(self, words: list[str], terse: bool) -> tuple[list[str], dict[str, str]]:
        """The command that runs WORDS in this place, and its environment."""
        own = {"TSAN_OPTIONS": THREAD_OPTIONS, "ASAN_OPTIONS": ADDRESS_OPTIONS,
               "UBSAN_OPTIONS": UNDEFINED_OPTIONS}
        found = None if self.tree else build.symbolizer()
        for name in own:
            own[name] += ":symbolize=0" if terse else ""
            own[name] += f":external_symbolizer_path={found}" if found and not terse else ""
        environment = {**os.environ, **own}
        environment.pop("DEBUGINFOD_URLS", None)
        if self.tree:
            environment["SLOTFUZZ_ROOTFS_ENV"] = " ".join(f"{k}={v}" for k, v in own.items())
            words = [str(ROOT / "ci" / "in_rootfs.sh"), str(self.tree), *words]
        return words, environment
