"""The finding of a hunt on a mutant, compared with the patch's header."""

import itertools
import re
import subprocess

import pytest

from slotfuzz.measure import mutants
from slotfuzz.paths import ROOT
from slotfuzz.subject import build, catalogue, mutant, subject
from tests.driver import records

HEADER = mutant.parse_header("""\
# origin: PyTorch #1, as it was
#   written there.
# contract: P2
# verdict: VERDICT
# target: storage
# program:
#   t0 = T.ones(1)
#   del t0
--- a/core/x.cc
""", "x.patch")


def record(**changes):
    """A finding that matches the header, except for CHANGES."""
    return records.finding(**{**dict(
        verdict="judge P2 attributes", contract="P2", lines=2), **changes})


def header(verdict):
    """The header with another verdict."""
    return mutant.Header(**{**vars(HEADER), "verdict": verdict})


@pytest.mark.parametrize("verdict, found, expected", [
    ("judge P2 attributes", "judge P2 attributes", True),
    ("judge P2 attributes", "judge P2 type", False),
    ("judge P2", "judge P2 check_base_kept", True),
    ("judge P2", "judge P23 attributes", False),
    ("judge P2 attributes", "judge P2", False),
    ("check", "check", True),
    ("sanitizer heap-use-after-free", "sanitizer heap-use-after-free", True),
    ("sanitizer SEGV", "sanitizer heap-use-after-free", False),
])
def test_a_verdict_equals_the_headers_or_begins_with_it(verdict, found, expected):
    assert mutants.is_expected(header(verdict), record(verdict=found)) == expected


@pytest.mark.parametrize("changes, problem", [
    ({}, None),
    ({"verdict": "judge P3 early"}, "verdict is 'judge P3 early', not 'judge P2'"),
    ({"contract": "P3"}, "contract is P3, not P2"),
    ({"contract": ""}, None),
    ({"lines": 3}, "3 lines, the header has 2"),
    ({"rate": 0.95}, "fails in 95% of fresh processes"),
    ({"one_minimal": False}, "not 1-minimal"),
])
def test_each_difference_from_the_header_is_a_problem(changes, problem):
    assert mutants.problems(header("judge P2"), record(**changes), 60) == [problem][:bool(problem)]


def test_what_was_not_found_is_the_only_problem():
    assert mutants.problems(header("judge P2"), None, 60) == ["not found in 60 s"]


@pytest.mark.parametrize("with_python, wanted", [
    (True, ["storage-NAME", "tensor-NAME", "slotpython-NAME"]),
    (False, ["storage-NAME", "tensor-NAME"]),
])
def test_of_a_mutant_no_more_is_built_than_is_asked_for(
    monkeypatch, tmp_path, with_python, wanted,
):
    built = []

    def builds(preset, targets, before):
        before(tmp_path)
        built.extend(targets)
        return tmp_path
    monkeypatch.setattr(build, "build", builds)
    name = catalogue.mutant_names()[0]
    subject.resolve(f"mutant:{name}", "address", ["storage", "tensor"], with_python=with_python)
    assert built == [target.replace("NAME", name) for target in wanted]
    known = (tmp_path / build.MUTANTS).read_text()
    assert known.split() == [name, *sorted(one.removesuffix("-NAME") for one in wanted)]


def test_the_page_on_mutants_has_each_field_of_a_header():
    page = (ROOT / "docs" / "mutants.md").read_text()
    keys = {line[2:].partition(":")[0] for path in (ROOT / "mutants").glob("*.patch")
            for line in itertools.takewhile(lambda line: line.startswith("#"),
                                            path.read_text().splitlines())
            if not line.startswith("#   ")}
    assert keys and not [key for key in keys if f"| `{key}` |" not in page]


def test_the_page_on_mutants_has_the_themes_of_each_target():
    page = (ROOT / "docs" / "mutants.md").read_text()
    for name in catalogue.target_names():
        given = re.search(r"\{(\..*?)\}", catalogue.source_of(name).read_text(), re.DOTALL)
        themes = re.findall(r"\.(\w+) =", given[1]) if given else ["storage"]
        words = ", ".join(themes)
        assert catalogue.must_fail(name) or f"| `{name}` | {words} |" in page, name


def test_each_verdict_of_a_mutant_has_its_row():
    page = (ROOT / "docs" / "mutants.md").read_text()
    rows = re.findall(r"`([\w ]+?)(?::|`| <)", page.partition("## Verdict words")[2])
    for name in catalogue.mutant_names() + catalogue.protocol_mutant_names():
        verdict = mutant.read_header(name).verdict
        assert any(verdict.startswith(row) for row in rows), verdict


@pytest.mark.parametrize(
    "path", sorted((ROOT / "mutants").glob("*.patch")), ids=lambda one: one.stem)
def test_each_patch_applies_to_the_core(path, tmp_path):
    subprocess.run([ROOT / "ci/apply_mutant.sh", ROOT, path, tmp_path], check=True)
