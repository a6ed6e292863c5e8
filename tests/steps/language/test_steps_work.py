"""Each step of a small language works on the core: a step that always raises checks nothing.

Of rows that are quick, all forms run, or all with so many operands.
"""

import itertools
import subprocess

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.finding import definitions
from slotfuzz.language import prelude
from slotfuzz.subject import build, subject

TARGET = "autograd"
# Code that puts the steps of a language that worked into `worked`, and the others into `failed`.
LANGUAGES = {
    "calls and acts of an interrupt": """
for steps in (interrupted_calls, interrupting_acts):
    for name in steps:
        if name == "leaves_hermetic":
            T.enter_hermetic()
        attempt(name, lambda: steps[name](Subject()))
""",
    "acts on a graph": """
for name, act in list(acts_on_graph.items()):
    acts_on_graph["tried"] = lambda run: attempt(name, lambda: act(run), Refusal)
    repeating_acts = ("tried",)
    reenter("hook", "tried")
    if name not in worked:
        failed.append(name)
""",
    "points of a graph": """
for name in ("pack", "unpack", "forward", "backward", "between", "leaf_hook", "hook", "prehook",
             "node_hook", "accumulated", "death"):
    acts_on_graph["tried"] = lambda run: worked.append(name)
    reenter(name, "tried")
    if name not in worked:
        failed.append(name)
""",
    "asides": """
for name in asides:
    attempt(name, lambda: asides[name](T.ones(4).requires_grad_() * 2, T.ones(4)))
""",
    "links and ends of a deep chain": """
made = []
for name in deep_links:
    one = T.ones(1)
    known = weakref.ref(one)
    attempt(name, lambda: made.append(deep_links[name](one)))
    del one
    if known() is None:
        failed.append(name)
    made.clear()
for name in deep_ends:
    attempt(name, lambda: deep_ends[name]([T.ones(1)]))
""",
    "attachments and weak views": """
for name in attachments:
    attempt(name, lambda: attachments[name](T.ones(2, 2).requires_grad_(), new_sentinel()))
for name in weak_views:
    attempt(name, lambda: weak_views[name](T.ones(2, 2)))
""",
}
ATTEMPT = """
worked, failed = [], []
def attempt(name, step, *allowed):
    try:
        step()
        worked.append(name)
    except allowed:
        worked.append(name)
    except Exception as error:
        failed.append((name, error))
    while T._is_hermetic():
        T.exit_hermetic()
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_step_works(language, tmp_path):
    code = LANGUAGES[language]
    chosen = subject.resolve("core", "none", [TARGET])
    build.build(chosen.preset, [f"target-{TARGET}", "slotcore_module"])
    with Server(chosen, TARGET) as server:
        snippets = prelude.snippets_of(server.table.description)
    languages = definitions.reached(snippets, code, "slotcore")
    path = tmp_path / "steps.py"
    path.write_text(f"import gc, weakref\nimport slotcore as T\n{languages}\n{ATTEMPT}{code}\n"
                    "print(len(worked))\nassert not failed, failed\n")
    result = subprocess.run([chosen.script_python, path], check=False, capture_output=True,
                            text=True, env=chosen.script_environment())
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 5


@pytest.mark.parametrize("row, operands, form_count", [
    ("check_backward_asked", 4, 18_360), ("check_returned", 4, 2_401), ("check_state", 3, 79_507)])
def test_each_form_of_a_row_holds_on_the_core(row, operands, form_count, tmp_path):
    chosen = subject.resolve("core", "none", [TARGET])
    build.build(chosen.preset, [f"target-{TARGET}", "slotcore_module"])
    with Server(chosen, TARGET) as server:
        snippets = prelude.snippets_of(server.table.description)
        values = {kind["key"]: kind["values"] for kind in server.table.description["kinds"]}
        forms = [*itertools.product(*(
            values[key] for key in server.table.ops[row]["operands"][:operands]))]
    assert len(forms) == form_count
    code = f"for form in {forms!r}:\n    attempt(form, lambda: {row}(*form))\n"
    path = tmp_path / "forms.py"
    path.write_text(f"import gc, weakref\nimport slotcore as T\n"
                    f"{definitions.reached(snippets, code, 'slotcore')}\n{ATTEMPT}{code}"
                    "print(len(worked))\nassert not failed, failed[:3]\n")
    result = subprocess.run([chosen.script_python, path], check=False, capture_output=True,
                            text=True, env=chosen.script_environment())
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) == form_count
