"""The mutated core: sources with every mutant, and the list of their sites.

build/mutation/sources/ holds the copy of core/, sites-RULES.json beside it the sites of each file.
Only files that have changed are looked at again, and keep their numbers as long as they do not
change. RULES is the start of a hash of this folder, so that each version reads what it has written.
"""

import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from slotfuzz.console import say
from slotfuzz.errors import BrokenError
from slotfuzz.mutation import compiling
from slotfuzz.mutation.finder import Finder
from slotfuzz.mutation.site import Edit, Site
from slotfuzz.mutation.source import ENCODING, Source
from slotfuzz.paths import ROOT, build_root

OWN = Path(__file__).parent
# Files of this folder on which no site depends.
NO_RULES = ("sweep.py", "hunters.py", "classes.py")
# The trace, which prints what programs never see, and what no target links.
NOT_MUTATED = ("core/c10/trace.", "core/c10/check.h", "core/unguided.cc",
               "core/python/module/interpreter_main.cc")
# Numbers of one file, so that another file keeps its own when a site is new.
FILE_SITES_MAX = 1000
DOES_NOT_COMPILE = "does not compile"


@dataclass(frozen=True)
class Mutated:
    """SITES by number, and how many others were LEFT_OUT for which reason."""

    sites: dict[int, Site]
    left_out: dict[str, int]


@dataclass
class _File:
    """The sites of a file whose text and rules have the MARK; DROPPED ones do not compile."""

    mark: str
    sites: list[Site]
    left_out: dict[str, int]
    dropped: list[int]


def make() -> Mutated:
    """Writes the mutated sources, unless they are those of the present core and rules."""
    listed = build_root() / compiling.PRESET / f"sites-{rules_mark()[:8]}.json"
    files = _read(listed)
    marks = {name: _hash(rules_mark() + (ROOT / name).read_text(ENCODING)) for name in names()}
    changed = {name for name in marks if name not in files or files[name].mark != marks[name]}
    if changed or set(files) != set(marks):
        files = _make(files, marks, changed)
        listed.write_text(json.dumps({name: asdict(file) for name, file in files.items()}))
    left_out: Counter = Counter()
    for file in files.values():
        left_out += Counter(file.left_out)
    left_out[DOES_NOT_COMPILE] = sum(len(file.dropped) for file in files.values())
    return Mutated({number: site for place, file in enumerate(files.values())
                    for number, site in _numbered(place, file)}, dict(left_out))


def names() -> list[str]:
    """The files that have mutants."""
    return [name for name in _core_files() if name.endswith((".cc", ".h"))
            and not name.startswith(NOT_MUTATED)]


def rules_mark() -> str:
    """A hash of the rules."""
    return _hash("".join(path.read_text() for path in sorted(OWN.glob("*.*"))
                         if path.name not in NO_RULES))


def _numbered(place: int, file: _File) -> list[tuple[int, Site]]:
    return [(place * FILE_SITES_MAX + index, site) for index, site in enumerate(file.sites, 1)
            if index not in file.dropped]


def _read(listed: Path) -> dict[str, _File]:
    if not listed.exists():
        return {}
    return {name: _File(**row | {"sites": [_site(one) for one in row["sites"]]})
            for name, row in json.loads(listed.read_text()).items()}


def _site(row: dict) -> Site:
    edit = Edit(**row["edit"] | {"keep": row["edit"]["keep"] and tuple(row["edit"]["keep"])})
    return Site(**row | {"edit": edit})


def _core_files() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "core").rglob("*")
                  if path.is_file())


def _make(files: dict[str, _File], marks: dict[str, str], changed: set[str]) -> dict[str, _File]:
    for name in _core_files():
        if name not in marks or not (compiling.folder() / name).exists():
            compiling.write(compiling.folder() / name, (ROOT / name).read_text(ENCODING))
    known = {*_core_files(), *compiling.ADDED.values()}
    for path in compiling.folder().rglob("*.*"):
        if str(path.relative_to(compiling.folder())) not in known:
            path.unlink()
    for own, place in compiling.ADDED.items():
        compiling.write(compiling.folder() / place, (OWN / own).read_text(ENCODING))
    flags = compiling.Flags()
    say(f"looking for sites in {len(changed)} files")
    made = {name: _found(name, marks[name], flags) if name in changed else files[name]
            for name in marks}
    by_file = {name: {number: site.edit for number, site in _numbered(place, file)}
               for place, (name, file) in enumerate(made.items())}
    say(f"{sum(map(len, by_file.values())):,} sites; compiling the new ones")
    # Another header may be an error anywhere.
    checked = set(made) if any(name.endswith(".h") for name in changed) else changed
    dropped = compiling.write_all(by_file, checked, flags)
    for name in made:
        made[name].dropped += sorted(number % FILE_SITES_MAX for number in by_file[name]
                                     if number in dropped)
    return made


def _found(name: str, mark: str, flags: compiling.Flags) -> _File:
    finder = Finder(Source(ROOT, name, flags.of(name, ROOT)))
    if len(finder.sites) >= FILE_SITES_MAX:
        raise BrokenError(f"{name} has {len(finder.sites)} sites")
    return _File(mark, finder.sites, dict(finder.left_out), [])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
