"""Each row of the op table has the effects that it declares, and no other effects.

tests/steps/language/observed_effects.py runs the rows on slotcore, and on torch if it is installed.
"""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import defaultdict

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.paths import ROOT
from slotfuzz.subject import subject, tested

SCRIPT = ROOT / "tests/steps/language/observed_effects.py"
FUNCTIONS = ROOT / "tests/steps/tested_functions.py"
TARGET, SECONDS_MAX, SEEDS_MAX = "storage", 300, 4
# What the script sees of `checks=KIND`: what check_kept of the prelude is about.
KIND = "checks="
WORD = re.compile(r"\w+")
# A row of a file of ops/, by its name.
ROW = re.compile(r"^(\w+) = ", re.MULTILINE)
# More memory than there is; and a method that objects of PyTorch alone have.
ALWAYS_RAISE = {"new_huge", "raw_saved_hooks"}
# The first rows that declare exotic impls do not run on slotcore, whose own are on meta.
ONLY_TORCH = {"exotic"}
# Effects of a row of torch that one release has and another lacks.
OF_A_RELEASE = ("raises", "exotic", "sets_attribute")
NOTHING = {"effects": [], "attribute": "", "attribute_of_storage": False, "checks_kind": ""}


@pytest.fixture(scope="module", name="chosen")
def plain_core():
    """The core without a sanitizer, whose Python runs the rows."""
    return subject.resolve("core", "none", [TARGET])


@pytest.fixture(scope="module", name="description")
def described(chosen):
    """The op table and the prelude as the engine has read them, with the seeds of each op."""
    with Server(chosen, TARGET) as server:
        description, seeds = server.table.description, seeds_of_ops(server)
    return {**description, "ops": [{**op, "seeds": seeds[op["name"]]} for op in description["ops"]]}


def seeds_of_ops(server):
    """For each op, the shortest set-ups in corpus/: the lines before it, and what it reads."""
    table, found = server.table, defaultdict(list)
    for path in sorted((ROOT / "corpus").glob("*/*.py")):
        lines = server.parse(path.read_text(encoding="utf-8"))
        if any(line.lane for line in lines):
            continue  # what is observed happens on the main thread
        texts = [table.text(line) for line in lines]
        for index, line in enumerate(lines):
            reads = table.read(line)
            found[line.op].append({"lines": texts[:index],
                                   "reads": [word for word in line.operands if word in reads]})
    for setups in found.values():
        setups.sort(key=lambda one: len(one["lines"]))
        del setups[SEEDS_MAX:]
    return found


def flipped(ops):
    """Two wrong rows for each effect: one omits it, and one declares it without having it."""
    effects = sorted({effect for op in ops for effect in op["effects"]} - ONLY_TORCH)
    liars = {}
    for effect in effects:
        honest = next(op for op in ops if effect in op["effects"])
        liars[f"hides_{effect}"] = {**honest, **NOTHING,
                                    "effects": sorted({*honest["effects"]} - {effect})}
        if effect != "sets_attribute":
            liars[f"hides_{effect}"]["attribute"] = honest["attribute"]
        liars[f"feigns_{effect}"] = {**ops[0], **NOTHING, "operands": [], "template": "None",
                                     "needs": "", "effects": [effect], "attribute": "tag"}
    kept = next(op for op in ops if op["checks_kind"] == "storage" and "collects" in op["effects"])
    liars["mistakes_kind"] = {**kept, "checks_kind": "tensor"}
    return effects, [{**row, "name": name} for name, row in liars.items()]


def differing(ops, observed):
    """For each op that ran and differs from its row: its observed and declared effects."""
    found = {}
    for op in ops:
        seen, declared = observed[op["name"]], op["effects"]
        if any(one.startswith(KIND) for one in seen["effects"]):
            declared = sorted([*declared, KIND + op["checks_kind"]])
        if seen["ran"] and seen["effects"] != declared:
            found[op["name"]] = (seen["effects"], declared)
    return found


def rows_of(part):
    """The names of the rows of a file of ops/."""
    return set(ROW.findall((ROOT / f"ops/{part}.ops").read_text(encoding="utf-8")))


def observe(description, python, environment):
    """The script's output for the ops of DESCRIPTION.

    The script runs in a PID namespace of its own, because it counts the threads that start there.
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    alone = ["unshare", *user, "--pid", "--fork", "--kill-child"]
    result = subprocess.run([*alone, python, SCRIPT], input=json.dumps(description), text=True,
                            check=False, capture_output=True, timeout=SECONDS_MAX, env=environment)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module", name="observed")
def observed_on_slotcore(chosen, description):
    """The effects of the rows on slotcore, followed by the wrong rows."""
    ops = [*description["ops"], *flipped(description["ops"])[1]]
    return observe({**description, "ops": ops}, chosen.script_python, chosen.script_environment())


def test_each_row_does_what_it_says(description, observed):
    ops = description["ops"]
    assert differing(ops, observed) == {}
    not_run = {op["name"] for op in ops if not observed[op["name"]]["ran"]}
    masked = {op["name"] for op in ops if op["theme"] == "tensor"} | {
        *rows_of("torch"), *rows_of("transforms"), *rows_of("writes"), *rows_of("fakes"),
        *rows_of("tested"),
        "wrap_legacy"}
    assert not_run <= masked, "a row of the core has no set-up"
    assert len(ops) - len(not_run) > 200
    raised = {op["name"] for op in ops if observed[op["name"]]["all_raised"]}
    assert raised == ALWAYS_RAISE, "what a row does is seen only if it does not raise"


@pytest.mark.parametrize(("name", "rows_run"), [("Square", 8), ("Product", 8), ("thirds", 7)])
def test_each_row_about_a_tested_function_does_what_it_says(name, rows_run):
    function = tested.read(f"{FUNCTIONS}:{name}")
    chosen = subject.resolve("core", "none", ["autograd"], function=function)
    with Server(chosen, "autograd") as server:
        description = server.table.description
    ops = [op for op in description["ops"] if op["name"] in rows_of("tested")]
    makers = [op for op in description["ops"] if op["name"] == "ones_in_rows"]
    told = observe({**description, "ops": [*makers, *ops]}, chosen.script_python,
                   chosen.script_environment() | {"PYTHONPATH": str(function.file.parent)})
    for row in (*ops, *told.values()):  # whether a call raises is the function's affair
        row["effects"] = [one for one in row["effects"] if one != "raises"]
    assert differing(ops, told) == {}
    assert sum(told[op["name"]]["ran"] for op in ops) == rows_run


def test_a_row_that_lies_is_named(description, observed):
    effects, liars = flipped(description["ops"])
    assert len(effects) > 15
    assert all(observed[liar["name"]]["ran"] for liar in liars)
    assert set(differing(liars, observed)) == {liar["name"] for liar in liars}


def test_each_row_does_what_it_says_on_torch(description):
    """Runs the rows that only torch has, if this Python can import torch.

    Releases differ in the names that they lack and in the operands that they refuse, so this
    compares the effects that do not depend on the release.
    """
    ops = [op for op in description["ops"] if "exotic" in op["effects"] or "T._C" in op["needs"]]
    if importlib.util.find_spec("torch") is None:
        pytest.skip(f"{len(ops)} rows were not run: {sys.executable} has no torch")
    told = observe({**description, "module": "torch"}, sys.executable, None)
    assert sum(told[op["name"]]["ran"] for op in ops) > 20
    for rows in (ops, told.values()):
        for row in rows:
            row["effects"] = [one for one in row["effects"] if one not in OF_A_RELEASE]
    assert differing(ops, told) == {}


def effects_of_names(description, text, module):
    """The effects of the prelude's names in TEXT, as code."""
    names = {name: effects for one in description["prelude"] if one["module"] in ("", module)
             for name, effects in one["effects"].items()}
    return {effect for word in WORD.findall(text) for effect in names.get(word, ())}


def test_a_row_has_the_effects_of_what_it_calls(description):
    for op in description["ops"]:
        for module in ("slotcore", "torch"):
            called = effects_of_names(description, op["template"], module)
            assert called <= set(op["effects"]), op["name"]


def test_a_snippet_has_the_effects_of_what_it_calls(description):
    """It may call its own names and names of other snippets."""
    told = 0
    for row in description["prelude"]:
        code = "\n".join(ast.unparse(one) for one in ast.parse(row["text"]).body
                         if isinstance(one, (ast.FunctionDef, ast.ClassDef)))
        words = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        called = effects_of_names(description, " ".join(words - set(row["names"])),
                                  row["module"] or "slotcore")
        own = {effect for effects in row["effects"].values() for effect in effects}
        told += len(called)
        assert called <= own, row["names"]
    assert told > 20
