"""Small functions: the Wilson bound, the ring, mutants' headers, folders of findings."""

import json
import os

import pytest

from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.finding import finding
from slotfuzz.hunt import corpus
from slotfuzz.language import op_table
from slotfuzz.measure import mutants
from slotfuzz.reduce import ring
from slotfuzz.subject import mutant, subject
from slotfuzz.triage import verify
from tests.driver import records

HEADER = """\
# origin: #97470
# contract: H2
# verdict: sanitizer heap-use-after-free
# target: storage
# program:
#   t0 = T.ones(1)
#   del t0
--- a/core/x.cc
# program:
"""


@pytest.mark.parametrize("hits, runs, low", [
    (0, 0, 0.0), (0, 20, 0.0), (20, 20, 0.8389), (10, 20, 0.2993), (1, 1, 0.2065),
])
def test_wilson_low(hits, runs, low):
    assert verify.wilson_low(hits, runs) == pytest.approx(low, abs=5e-5)


@pytest.mark.parametrize("wanted", [["p9"], ["p3", "p9"], ["p0", "p5", "p9"]])
def test_ring_finds_the_programs_that_matter(wanted):
    programs = [f"p{i}" for i in range(10)]

    def fails(texts):
        rest = iter(texts)
        return all(text in rest for text in wanted)

    assert ring.shortest_sequence(programs, fails) == wanted


def test_ring_that_never_fails_is_empty():
    assert ring.shortest_sequence(["a", "b", "c"], lambda texts: False) == []


def test_a_growing_corpus_loses_entries_that_a_process_does_not_use(tmp_path):
    (tmp_path / "mine").touch()
    growing = corpus.Growing(tmp_path)
    for name in "abc":
        (tmp_path / name).touch()
    loads = growing.about_to_load(), growing.about_to_load()
    (tmp_path / "d").touch()
    growing.ended(loads[0], {"a", "b", "e"})
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "d", "mine"]
    growing.ended(loads[1], {"c"})
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "d", "mine"], "it used another entry"
    growing.ended(growing.about_to_load(), {"a", "d"})
    assert sorted(os.listdir(tmp_path)) == ["a", "d", "mine"]


def test_a_corpus_folder_that_does_not_exist_counts_as_empty(tmp_path):
    growing = corpus.Growing(tmp_path / "corpus")
    growing.ended(growing.about_to_load(), set())
    assert not (tmp_path / "corpus").exists()


def test_mutant_header():
    header = mutant.parse_header(HEADER, "x.patch")
    assert header == mutant.Header("#97470", "H2", "sanitizer heap-use-after-free", "storage",
                                   "address", ("t0 = T.ones(1)", "del t0"))


@pytest.mark.parametrize("lost", ["origin", "verdict", "target", "  del t0\n#   t0"])
def test_a_mutant_header_without_a_field_is_broken(lost):
    text = "\n".join(line for line in HEADER.splitlines() if f"# {lost}" not in line)
    if lost.startswith(" "):
        text = text.replace("#   t0 = T.ones(1)\n#   del t0\n", "")
    with pytest.raises(BrokenError, match="x.patch"):
        mutant.parse_header(text, "x.patch")


def found(**fields):
    """A finding's record."""
    return records.finding(**{**dict(
        verdict="sanitizer heap-use-after-free", contract="H2", lines=2), **fields})


@pytest.mark.parametrize("record, words", [
    (found(), []),
    (None, ["not found"]),
    (found(verdict="judge P2 attributes"), ["verdict is"]),
    (found(contract="P1"), ["contract is P1"]),
    (found(lines=3), ["3 lines"]),
    (found(one_minimal=False), ["not 1-minimal"]),
    (found(rate=0.5), ["fails in 50%"]),
])
def test_a_finding_is_compared_with_the_mutants_header(record, words):
    problems = mutants.problems(mutant.parse_header(HEADER, "x"), record, 5)
    assert len(problems) == len(words)
    assert all(word in problem for word, problem in zip(words, problems))


def test_a_finding_is_written_at_once_and_replaces_an_older_one(tmp_path):
    for text in ("old", "new"):
        folder = finding.write(tmp_path, records.finding("x-1"), {"repro.py": text})
    assert (folder / "repro.py").read_text() == "new"
    assert json.loads((folder / "finding.json").read_text())["id"] == "x-1"
    assert os.listdir(tmp_path) == ["x-1"]


def test_a_write_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(MachineError):
        finding.write(tmp_path, records.finding("x-1"), {"no/such/folder.py": ""})
    assert os.listdir(tmp_path) == []


def test_known_findings_are_those_of_the_subject(tmp_path):
    finding.write(tmp_path, records.finding("x-1"), {"repro.py": "# subject: core\n"})
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "finding.json").write_text("{")
    finding.write(tmp_path, records.finding("y-1", subject="torch", versions={
        "torch": "2.6.0+debian"}), {"repro.py": ""})
    def known(name, **versions):
        return [path.name for path in finding.known([tmp_path], subject.Subject(
            name, "", "", tmp_path, "", versions=versions))]
    assert known("core") == ["x-1"]
    assert known("torch", torch="2.6.0") == ["y-1"] and known("torch", torch="1.13.1") == []


def test_variants_of_a_finding_are_kept_once_and_not_without_end(tmp_path):
    folder = finding.write(tmp_path, records.finding("x-1"), {})
    for number in [0, 0, *range(finding.VARIANTS_MAX + 5)]:
        finding.add_variant(folder, f"t{number} = T.ones(1)\n")
    variants = finding.read(folder).variants
    assert len(variants) == len(set(variants)) == finding.VARIANTS_MAX


def test_a_folder_that_cannot_be_made_is_a_machine_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot write"):
        finding.check_writable(tmp_path / "file" / "out")


def test_no_probe_runs_a_backward_pass():
    """backward() starts threads in the server, and then fails in each forked child."""
    needs = [op["needs"] for op in op_table.read()["ops"]]
    assert len(needs) > 200 and not [need for need in needs if "backward()" in need]
