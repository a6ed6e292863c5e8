"""The scope of a gate: which targets a change affects."""

import subprocess

import pytest

from slotfuzz.ci import checkout, gate_scope
from slotfuzz.ci.checkout import Base
from slotfuzz.errors import UserError
from slotfuzz.subject import catalogue


def never():
    """For changes that are not in an op table."""
    pytest.fail("no op table has changed")


@pytest.mark.parametrize("name", [
    "docs/ci.md", "tests/driver/ci/test_gate.py", "corpus/storage/a.py", "mutants/x.patch",
    "harness/slotfuzz/hunt/hunt.py", "targets/c10/x.cc"])
def test_a_file_of_no_target_affects_nothing(name):
    assert gate_scope.of_change([name], never).is_empty


@pytest.mark.parametrize("name, subjects", [
    ("core/python/preserve/wrapper.cc", ["core", "core:resurrect"]),
    ("core/python/preserve/preserve_resurrection.cc", ["core:resurrect"]),
    ("core/c10/impl/refcount_bit.cc", ["core"]),
    ("harness/engine/judge/judge.cc", ["core", "core:resurrect"]),
])
def test_a_source_of_all_targets_affects_the_builds_that_have_it(name, subjects):
    scope = gate_scope.of_change(["README.md", name], never)
    assert scope.targets == catalogue.fuzzable_targets() and scope.subjects == subjects
    assert scope.protocols == [] and scope.files == [name]


def test_the_code_of_the_protocols_is_explored_and_fuzzed():
    scope = gate_scope.of_change(["core/c10/impl/protocol/slot.h"], never)
    assert scope.protocols == catalogue.protocol_names()
    assert scope.targets == catalogue.fuzzable_targets()


def test_a_targets_own_file_affects_it_but_never_the_canary():
    assert gate_scope.of_change(["targets/programs/tensor.cc"], never).targets == ["tensor"]
    assert gate_scope.of_change(["targets/protocols/claim.cc"], never).protocols == ["claim"]
    assert gate_scope.of_change(["targets/programs/canary.cc"], never).is_empty


def test_an_op_table_affects_the_targets_that_draw_its_changed_ops():
    scope = gate_scope.of_change(["ops/tensor.ops"], lambda: ["tensor"])
    assert scope.targets == ["tensor"] and scope.protocols == []


SOME_OPS = """# head
[values]
size = ['size', ['1']]

[storage]
one = ['size', 'one({0})', '', '']
two = ['', 'two()', '', '']
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository with one commit, used as the checkout."""
    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t",
                        *words], check=True, capture_output=True)
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops/some.ops").write_text(SOME_OPS)
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    monkeypatch.setattr(gate_scope, "ROOT", tmp_path)
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    return tmp_path


def test_new_and_changed_rows_and_new_files_count_as_changed(repository):
    changed = SOME_OPS.replace("two()", "other()").replace("# head", "# another head")
    (repository / "ops/some.ops").write_text(changed)
    (repository / "ops/new.ops").write_text("[tensor]\nthree = ['', 'three()', '', '']\n")
    assert gate_scope.changed_ops("HEAD") == {"two", "three"}
    assert gate_scope.changed_files("HEAD") == ["ops/new.ops", "ops/some.ops"]


def test_an_op_has_changed_when_a_kind_of_its_operands_has(repository):
    (repository / "ops/some.ops").write_text(SOME_OPS.replace("['1']", "['1', '2']"))
    assert gate_scope.changed_ops("HEAD") == {"one"}


def test_an_unknown_revision_is_an_error(repository):
    with pytest.raises(UserError, match="nope is not a revision"):
        gate_scope.commit_of("nope")


@pytest.mark.parametrize("keep", [True, False])
def test_the_base_is_checked_out_beside_and_removed_unless_kept(repository, keep):
    for _ in range(2):  # the second uses the worktree of the first again
        with Base(gate_scope.commit_of("HEAD"), keep) as base:
            root = base.checkout().root
            assert (root / "ops/some.ops").exists()
            assert base.checkout().root == root
        assert root.exists() == keep
    listed = subprocess.run(["git", "-C", str(repository), "worktree", "list"], text=True,
                            check=True, capture_output=True).stdout
    assert len(listed.splitlines()) == 1 + keep
