"""Texts of descriptions: a short run of the target meta_text, and one that must fail."""

import re

from slotfuzz.paths import ROOT
from slotfuzz.subject import build
from tests.steps.run import run

SEEDS, RUNS = ROOT / "corpus/meta_text", 10_000
# A bug in the converter that a seed shows.
MUTANT, WORDS = "view-follows-base", "M4: the fakes differ"


def test_hostile_texts_are_refused_or_agree(tmp_path):
    folder = build.build("address", ["target-meta_text"])
    counts = run("bash", "-o", "pipefail", "-c", f'''
        "$0" -runs={RUNS} -seed=1 -artifact_prefix="$1/" "$1" "$2" 2>&1 | tee /dev/stderr |
        grep " of them documents, "
        ''', folder / "targets/meta_text", tmp_path, SEEDS)
    texts, documents, distinct = map(int, re.findall(r"\d+", counts))
    assert any(tmp_path.iterdir()), "the run has found no text"
    assert texts >= RUNS
    assert documents > texts // 3, "nearly all texts were refused"
    assert distinct > documents // 3, "nearly all documents were read before"


def test_a_converter_that_is_wrong_is_seen(tmp_path):
    folder = build.build_mutant("address", MUTANT, ["meta_text"])
    script = f'"$0" -runs=0 -artifact_prefix="$1/" "$2" 2>&1 | grep -o "{WORDS}"'
    text = run("bash", "-c", script, folder / "targets/meta_text", tmp_path, SEEDS)
    assert WORDS in text
