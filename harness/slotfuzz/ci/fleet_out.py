"""Fills a fleet's $OUT: what is there is all that a target will find where it runs.

Beside each binary are its seeds and options; lib/ holds the shared libraries that a bare system
lacks, and CPython's standard library, which the engine looks for beside its own program.
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

# A program may import anything but CPython's own tests, what others have installed, and what
# builds CPython.
NOT_FOR_PROGRAMS = ("test", "config-*", "site-packages", "dist-packages", "ensurepip",
                    "__pycache__", "sitecustomize.py")
# The runner's own C library goes with its loader, and cannot be taken along.
C_LIBRARY = re.compile(r"(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util))\.so\.\d+")
# CPython's allocations that it never frees would be leaks; the judge's ledger looks for leaks of
# the core. A fake stack for each fibre of a protocol is a hundred times slower than its run.
OPTIONS = """\
[libfuzzer]
detect_leaks = 0

[asan]
detect_leaks = 0
detect_stack_use_after_return = 0
"""


def fill(out: Path, binaries: list[Path], corpus: Path) -> None:
    """Copies BINARIES to OUT with all that they need, and the seeds of CORPUS/<target>.

    MachineError where a library is missing or OUT cannot be written.
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
    """The seeds of a folder, of programs and of protocols alike; none if there is no folder."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")


def _zip(path: Path, seeds: list[Path]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for seed in seeds:
            archive.write(seed, seed.name)


def _standard_library(library: Path) -> list[Path]:
    """Copies the standard library of this interpreter, compiled; its extension modules."""
    folder = library / f"python{sysconfig.get_python_version()}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("stdlib"), folder,
                    ignore=shutil.ignore_patterns(*NOT_FOR_PROGRAMS))
    # What a fleet unpacks has other times of change, which must not make it stale.
    compileall.compile_dir(folder, quiet=2, workers=os.cpu_count(), stripdir=str(library),
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    return sorted((folder / "lib-dynload").glob("*.so"))


def _libraries(library: Path, objects: list[Path], needed: bool) -> None:
    """Copies the shared libraries of OBJECTS. One that lacks some is removed unless NEEDED."""
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
    """By name, the shared libraries that PATH loads, and where the loader finds each here."""
    told = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
    if told.returncode:
        raise MachineError(f"ldd {path}: {told.stderr.strip()}")
    found = re.findall(r"^\s*(\S+) => (/\S+|not found)", told.stdout, re.MULTILINE)
    return {name: None if place == "not found" else Path(place) for name, place in found}


def _symbolizer(out: Path) -> None:
    """Where the fleet has put none beside the targets: ours, with its libraries."""
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
