"""case.json: what a case is beside its tensors, as `capture` and `minimize` write it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CaseRecord:
    """The LINES that run from LINE of SCRIPT on, and BEFORE: imports, functions and classes.

    If FUNCTION has a name, the lines are of its body and may return. VALUES are plain variables as
    expressions. HOLDERS are storages, and lists and dicts with tensors, as expressions of variables
    of tensors; only holders use the PARTS among these. OTHERS are the types of variables that are
    not kept. TORCH is a version; PYTHON the interpreter that has it, in the Debian tree TREE or, if
    that is empty, in the system.
    """

    version: int
    script: str
    line: int
    torch: str
    python: str
    lines: tuple[str, ...]
    tree: str = ""
    before: tuple[str, ...] = ()
    function: str = ""
    values: dict[str, str] = field(default_factory=dict)
    holders: dict[str, str] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    others: dict[str, str] = field(default_factory=dict)


VERSION = 1
