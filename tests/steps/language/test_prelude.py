"""The prelude as the engine describes it: it is complete, and scripts clear their own names."""

import ast
import builtins
import dis
import re
import types

import pytest

from slotfuzz.engine import frame
from slotfuzz.engine.server import Server
from slotfuzz.finding import contract, emit
from slotfuzz.language import prelude
from slotfuzz.paths import ROOT
from slotfuzz.scripts import compile_prelude
from slotfuzz.subject import subject
from tests.driver import replies

PARTS = [path.read_text() for path in sorted((ROOT / "harness/engine/prelude").rglob("*.py"))]
MARKERS = ("#: ", "#> ")
# A subject that has a snippet of each module.
SUBJECTS = {"": "core", "slotcore": "core", "torch": "torch"}


# What the engine puts among the names of the prelude; `tested` is the user's own Function.
OF_THE_ENGINE = ("T", "gc", "weakref", "tested")


@pytest.fixture(scope="module", name="snippets")
def snippets_of_the_engine():
    """The snippets of the target `storage`, which has those of all modules."""
    with Server(subject.resolve("core", None, ["storage"], with_python=False), "storage") as server:
        return prelude.snippets_of(server.table.description)


def test_the_engine_loses_no_line(snippets):
    code = [line for part in PARTS for line in part[part.index("\n#: "):].splitlines()
            if line and not line.startswith(MARKERS)]
    kept = [line for snippet in snippets for line in snippet.text.splitlines() if line]
    assert sorted(kept) == sorted(code) != []


def test_the_build_compiles_the_same_snippets(snippets):
    """The engine runs the code of a snippet that the build has split from its file."""
    texts = [snippet.text for snippet in snippets]
    for part in PARTS:
        split = [text.strip("\n") for text in compile_prelude.snippets(part)]
        assert split
        assert any(texts[at:at + len(split)] == split for at in range(len(texts)))


def test_snippets_are_python(snippets):
    for snippet in snippets:
        compile(snippet.text, ",".join(snippet.names), "exec")


def test_a_list_begins_empty():
    """The engine empties each list of the prelude between programs, so a constant is a tuple."""
    values = [node.value for part in PARTS for node in ast.parse(part).body
              if isinstance(node, ast.Assign)]
    for value in values:  # what a tuple has, and both branches of a conditional expression
        values += getattr(value, "elts", []) if isinstance(value, ast.Tuple) else []
        values += [value.body, value.orelse] if isinstance(value, ast.IfExp) else []
    lists = [value for value in values if isinstance(value, (ast.List, ast.ListComp))]
    assert lists
    assert [ast.unparse(value) for value in lists if getattr(value, "elts", True)] == []


def test_each_assert_says_what_is_broken():
    """Otherwise the judge would take the message for an exception of other code."""
    asserts = [node for part in PARTS for node in ast.walk(ast.parse(part))
               if isinstance(node, ast.Assert)]
    assert len(asserts) > 10
    words = [ast.unparse(node.msg).strip("f\"'") for node in asserts]
    begin = r"[A-Z]\d+[a-z]?: |memory: |\{number\}: "  # a caller gives the number
    assert [one for one in words if not re.match(begin, one)] == []
    numbers = {match[1] for one in words if (match := re.match(r"([A-Z]\d+[a-z]?): ", one))}
    assert {one for one in numbers if not contract.contract_text(one)} == set()


def bound_by(text):
    """The functions, classes and variables that TEXT defines at its top level."""
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (name.id for target in node.targets for name in ast.walk(target)
                        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store))


@pytest.mark.parametrize("module", ["slotcore", "torch"])
def test_one_snippet_defines_a_name(snippets, module):
    """All snippets share one namespace: the later one would change what the other calls."""
    owners = {}
    for snippet in snippets:
        if snippet.module in ("", module):
            for name in bound_by(snippet.text):
                owners.setdefault(name, []).append(snippet.names)
    assert len(owners) > 100
    assert {name: found for name, found in owners.items() if len(found) > 1} == {}


@pytest.mark.parametrize("module", ["slotcore", "torch"])
def test_a_script_gets_what_its_snippets_use(snippets, module):
    """A script has the snippets whose names it uses, and so on for these snippets."""
    here = [snippet for snippet in snippets if snippet.module in ("", module)]
    owners = {name: snippet for snippet in here for name in bound_by(snippet.text)}
    for snippet in here:
        nodes = list(ast.walk(ast.parse(snippet.text)))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        stored = {name.id for name in names if isinstance(name.ctx, ast.Store)}
        stored |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        unnamed = [name for name in {one.id for one in names} & owners.keys() - stored
                   if owners[name] is not snippet and name not in owners[name].names]
        assert unnamed == [], snippet.names


def steps_of(code, opnames):
    return {step.argval for step in dis.get_instructions(code) if step.opname in opnames}


def asked_of_globals(code):
    """The names that CODE, and what it defines, takes from no scope of its own."""
    names = steps_of(code, ("LOAD_GLOBAL", "LOAD_NAME")) - steps_of(code, ("STORE_NAME",))
    return names.union(*(asked_of_globals(one) for one in code.co_consts
                         if isinstance(one, types.CodeType)))


@pytest.mark.parametrize("module", ["slotcore", "torch"])
def test_a_snippet_uses_no_name_that_nothing_defines(snippets, module):
    """A check that raises a NameError has checked nothing, and its line is no finding.

    Snippets for all modules may use those of slotcore, where rows of slotcore alone call them.
    """
    codes = {snippet.names: compile(snippet.text, "snippet", "exec") for snippet in snippets
             if snippet.module in ("", module)}
    known = {*dir(builtins), *OF_THE_ENGINE}.union(
        *(steps_of(code, ("STORE_NAME", "STORE_GLOBAL")) for code in codes.values()))
    own = [snippet.names for snippet in snippets if snippet.module == module]
    assert len(own) > 50
    unknown = {names: sorted(found) for names in own
               if (found := asked_of_globals(codes[names]) - known)}
    assert unknown == {}


def ending(snippets, snippet, shown):
    """The script of a finding whose program calls SNIPPET and fails at its end, in line SHOWN."""
    reply = replies.reply(kind="assert", contract="P5", line=1, asserts=["gc.collect()", shown],
                          lines=[snippet.names[0]])
    return emit.script(reply, snippets, SUBJECTS[snippet.module], "address", "")


def test_a_script_clears_only_names_that_it_has(snippets):
    for snippet in snippets:
        script = ending(snippets, snippet, "assert T._live_impls() == 0")
        stored = {node.id for statement in ast.parse(script).body for node in ast.walk(statement)
                  if isinstance(statement, ast.Assign) and isinstance(node, ast.Name)}
        end = script.partition(frame.END)[2]
        assert set(re.findall(r"^    (\w+)\.clear\(\)$", end, re.MULTILINE)) <= stored, snippet


def test_a_script_does_not_clear_names_that_it_checks(snippets):
    snippet = next(one for one in snippets if "unraisable" in one.names)
    script = ending(snippets, snippet, "assert not unraisable, unraisable")
    assert "unraisable.clear()" not in script


def test_nested_deallocations_are_counted(snippets):
    """CPython puts off what it would free too deep: after 50 objects, after 10,000 or by stack."""
    snippet = next(one for one in snippets if "nested_deallocations" in one.names)
    names = {}
    exec(compile(snippet.text, "snippet", "exec"), names)
    assert names["nested_deallocations"](10) == 10
    assert 40 < names["nested_deallocations"](200_000) < 200_000
