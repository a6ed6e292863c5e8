"""One row for each --sanitizer: its build, its oracles and its limits."""

from dataclasses import dataclass

# The oracles that work in every build.
EVERYWHERE = ("judge", "watchdog", "differential")


@dataclass(frozen=True)
class Sanitizer:
    """One value of --sanitizer."""

    preset: str
    """The build, in CMakePresets.json."""

    oracles: tuple[str, ...]
    """The oracles that work in that build. `doctor` runs a planted bug for each."""

    reports_crashes: bool = True
    """Whether a crash is reported with a stack. If not, the process dies without libFuzzer's signal
    handlers: they allocate, and would deadlock after a crash inside malloc."""

    names_functions: bool = True
    """Whether a report names functions, which takes half a second for each report."""

    reports_as: str = "address"
    """The oracle that gets the credit for a report of the sanitizer's runtime."""

    can_be_blind: bool = False
    """Whether settings of the machine can disable it; `tools.blindness` checks them."""

    poisons_freed_memory: bool = False
    """Whether malloc overwrites freed memory in scripts, since nothing else detects its use."""


SANITIZERS = {
    "address": Sanitizer("address", (*EVERYWHERE, "address", "undefined")),
    "thread": Sanitizer("thread", (*EVERYWHERE, "thread"), reports_as="thread", can_be_blind=True),
    "debugpy": Sanitizer("debugpy", (*EVERYWHERE, "debugpy"), names_functions=False),
    "none": Sanitizer("plain", EVERYWHERE, reports_crashes=False, names_functions=False,
                      poisons_freed_memory=True),
}
