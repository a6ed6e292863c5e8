"""Fills a fleet's $OUT. A target has nothing but these files where it runs.

Beside each binary are its seeds and options. lib/ holds the shared libraries that a minimal system
lacks, and CPython's standard library, which the engine looks for beside its binary.
"""

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sysconfig
import zipfile
from pathlib import Path

from slotfuzz.errors import MachineError
from slotfuzz.subject import build

# Parts of the standard library that no program imports: CPython's tests, installed packages, and
# files for building CPython.
NOT_FOR_PROGRAMS = ("test", "config-*", "site-packages", "dist-packages", "ensurepip",
                    "__pycache__", "sitecustomize.py")
# Not copied: the C library must match the loader of the system where the target runs.
C_LIBRARY = re.compile(r"(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util))\.so\.\d+")
# CPython never frees some allocations, which LeakSanitizer would report; the judge's ledger detects
# leaks of the core. Fake stacks would make each run of a protocol's fibres a hundred times slower.
OPTIONS = """\
[libfuzzer]
detect_leaks = 0

[asan]
detect_leaks = 0
detect_stack_use_after_return = 0
"""


def fill(out: Path, binaries: list[Path], corpus: Path) -> None:
    """Copies BINARIES to OUT with all that they need, and the seeds of CORPUS/<target>.

    MachineError if a library is missing or OUT cannot be written.
    """
    library = out / "lib"
    try:
        library.mkdir(parents=True, exist_ok=True)
        for binary in binaries:
            shutil.copy2(binary, out / binary.name)
            (out / f"{binary.name}.options").write_text(OPTIONS)
            seeds = _files(corpus / binary.name)
            if seeds:
                _zip(out / f"{binary.name}_seed_corpus.zip", seeds)
        modules = _standard_library(library)
        _libraries(library, binaries, needed=True)
        _libraries(library, modules, needed=False)
        if not (out / "llvm-symbolizer").exists():
            _symbolizer(out)
    except OSError as error:
        raise MachineError(f"cannot fill {out}: {error}") from error


def _files(folder: Path) -> list[Path]:
    """The seeds of a folder, which are programs or schedules; empty if the folder is missing."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")


def _zip(path: Path, seeds: list[Path]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for seed in seeds:
            archive.write(seed, seed.name)


def _standard_library(library: Path) -> list[Path]:
    """Copies and compiles this interpreter's standard library; returns its extension modules."""
    folder = library / f"python{sysconfig.get_python_version()}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("stdlib"), folder,
                    ignore=shutil.ignore_patterns(*NOT_FOR_PROGRAMS))
    # Unpacking changes file times, so CPython must not compare them.
    compileall.compile_dir(folder, quiet=2, workers=os.cpu_count(), stripdir=str(library),
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    return sorted((folder / "lib-dynload").glob("*.so"))


def _libraries(library: Path, objects: list[Path], needed: bool) -> None:
    """Copies the shared libraries of OBJECTS.

    If a library is missing: MachineError if NEEDED, else the object is removed.
    """
    for path in objects:
        wanted = _linked(path)
        missing = [name for name, place in wanted.items() if place is None]
        if missing and needed:
            raise MachineError(f"{path} needs {', '.join(missing)}, which this machine lacks")
        if missing:
            path.unlink()
            continue
        for name, place in wanted.items():
            if not C_LIBRARY.fullmatch(name) and not (library / name).exists():
                shutil.copy2(place, library / name)


def _linked(path: Path) -> dict[str, Path | None]:
    """The shared libraries that PATH loads, by name, and the file of each on this machine."""
    result = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
    if result.returncode:
        raise MachineError(f"ldd {path}: {result.stderr.strip()}")
    found = re.findall(r"^\s*(\S+) => (/\S+|not found)", result.stdout, re.MULTILINE)
    return {name: None if place == "not found" else Path(place) for name, place in found}


def _symbolizer(out: Path) -> None:
    """Copies our llvm-symbolizer and its libraries, for a fleet that provides no symbolizer."""
    found = build.symbolizer()
    if not found:
        return
    shutil.copy2(found, out / "lib" / "llvm-symbolizer")
    _libraries(out / "lib", [Path(found)], needed=True)
    script = out / "llvm-symbolizer"
    script.write_text('#!/bin/sh\n'
                      '# The symbolizer looks for its libraries beside it.\n'
                      'folder=$(dirname "$(readlink -f "$0")")/lib\n'
                      'LD_LIBRARY_PATH=$folder exec "$folder/llvm-symbolizer" "$@"\n')
    script.chmod(0o755)
