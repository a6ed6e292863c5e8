"""What watches a run: one row for each --sanitizer, with the build that has it."""

from dataclasses import dataclass

# These speak in every build.
EVERYWHERE = ("judge", "watchdog", "differential")


@dataclass(frozen=True)
class Sanitizer:
    """One --sanitizer."""

    preset: str
    """The build, in CMakePresets.json."""

    oracles: tuple[str, ...]
    """The oracles that speak in that build: each has a planted bug, which `doctor` runs."""

    reports_crashes: bool = True
    """Whether a crash is reported with a stack. Else the process just dies, without a handler of
    libFuzzer's: those allocate, and wait for ever where malloc itself has crashed."""

    names_functions: bool = True
    """Whether a report names functions, which costs half a second each time."""

    reports_as: str = "address"
    """The oracle that a report of its runtime counts for."""

    can_be_blind: bool = False
    """Whether settings of the machine make it see nothing; `tools.blindness` knows them."""

    poisons_freed_memory: bool = False
    """Whether scripts run with freed memory overwritten, since nothing else notices its use."""


SANITIZERS = {
    "address": Sanitizer("address", (*EVERYWHERE, "address", "undefined")),
    "thread": Sanitizer("thread", (*EVERYWHERE, "thread"), reports_as="thread", can_be_blind=True),
    "debugpy": Sanitizer("debugpy", (*EVERYWHERE, "debugpy"), names_functions=False),
    "none": Sanitizer("plain", EVERYWHERE, reports_crashes=False, names_functions=False,
                      poisons_freed_memory=True),
}
