"""The result of a benchmark, and its output as a table, a CSV file and a plot.

A benchmark is one file bench/NAME.py with `measure(args) -> Measured` and `plot(measured, axes)`.
"""

import csv
import importlib.util
import io
import re
import types
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.errors import UserError, nearest
from slotfuzz.finding import finding
from slotfuzz.paths import ROOT, build_root

PLOT_PACKAGE = "python3-matplotlib"


@dataclass(frozen=True)
class Measured:
    """ROWS with equal keys for the CSV file, SENTENCES for a person, SUMMARY for a machine.

    FAILED says that the benchmark found something that must not happen.
    """

    rows: list[dict]
    sentences: list[str]
    summary: dict
    failed: bool = False


def markdown_table(head: list[str], rows: list[list]) -> list[str]:
    """The lines of a Markdown table."""
    return ["| " + " | ".join(map(str, row)) + " |"
            for row in (head, ["---"] * len(head), *rows)]


def sections(text: str) -> dict[str, str]:
    """The sections of a Markdown document by their titles; what stands before them by ""."""
    head, *others = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    return {"": head} | {one.partition("\n")[0]: one.partition("\n")[2] for one in others}


def with_section(text: str, title: str, section: str) -> str:
    """The document TEXT with the SECTION of that TITLE, which replaces a former one."""
    head, *others = (sections(text) | {title: section}).items()
    return "\n\n".join([head[1].strip(), *(f"{one}\n\n{words.strip()}" for one, words in others)]
                       ) + "\n"


def names() -> list[str]:
    """The benchmarks: the Python files of bench/."""
    return sorted(path.stem for path in (ROOT / "bench").glob("[a-z]*.py"))


def load(name: str) -> types.ModuleType:
    """The module of benchmark NAME; UserError that names the nearest if it does not exist."""
    if name not in names():
        raise UserError(f"no benchmark {name!r} in bench/; {nearest(name, names())}")
    spec = importlib.util.spec_from_file_location(f"bench_{name}", ROOT / "bench" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def folder() -> Path:
    """The folder for CSV files and plots."""
    return finding.check_writable(build_root() / "bench")


def write_csv(name: str, measured: Measured) -> Path:
    """Writes all rows to build/bench/NAME.csv."""
    text = io.StringIO()
    writer = csv.DictWriter(text, measured.rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(measured.rows)
    path = folder() / f"{name}.csv"
    finding.write_file(path, text.getvalue())
    return path


def write_plot(name: str, module: types.ModuleType, measured: Measured) -> Path | None:
    """Writes build/bench/NAME.png; None without matplotlib.

    Debian's matplotlib depends on 35 packages, such as scipy and headers of compilers. The set-up
    does not install it; the plot is drawn only if it is there.
    """
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    module.plot(measured, axes)
    figure.suptitle(module.__doc__.splitlines()[0], fontsize=9)
    path = folder() / f"{name}.png"
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
    return path
