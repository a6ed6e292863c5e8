"""Plain words: what docs/glossary.md replaces is in no comment, message or document.

Prose is what people read: comments, docstrings, texts of more than one word in code, and documents.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from tests.test_style import FILES, ROOT, text_of

GLOSSARY_ROWS_MAX = 40
# Logs, programs and patches as they were; what others have written; what a person steers.
NOT_OURS = ("repro/", "corpus/", "docs/contract.md", "LICENSE",
            "tests/test_words.py")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]*)\|$", re.MULTILINE)
# Code, and links to a folder by its name.
CODE_SPAN = re.compile(r"`[^`]*`|https?://\S+|\[[\w.-]+\]\([^)]*\)")
# Comments and literals in one alternation, so that each literal is read from its opening quote. A
# number comes before a character, since its digits may have quotes between them.
CPP_TOKEN = re.compile(
    r"""//(?P<line>(?:[^\\\n]|\\.)*)
    |/\*(?P<block>.*?)\*/
    |\b(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"
    |"(?P<string>(?:[^"\\\n]|\\.)*)"
    |\b\d(?:'?[\w.])*
    |'(?:[^'\\\n]|\\.)+'
    """, re.VERBOSE | re.DOTALL)


def glossary() -> dict[str, str]:
    """The words that docs/glossary.md replaces, as regular expressions, with what to write."""
    rows = ROW.findall((ROOT / "docs" / "glossary.md").read_text())
    return {word.strip(" `"): better for better, _, words in rows
            for word in words.split(", ") if word.startswith("`")}


def prose(name: str, text: str) -> list[tuple[int, str]]:
    """Line number and text of what people read in a file, without code in it."""
    if name.endswith(".py"):
        return _python_prose(text)
    if name.endswith((".cc", ".h")):
        return _cpp_prose(text)
    lines = list(enumerate(text.splitlines(), 1))
    if name.endswith(".patch"):
        program = text.find("# program:\n")
        start = text.count("\n", 0, program) + 1 if program >= 0 else len(lines)
        return [(number, line) for number, line in lines
                if re.match(r"#" if number <= start else r"\+.*//", line)]
    if name.endswith(".md"):
        return [(number, CODE_SPAN.sub("", line)) for number, line in lines
                if not line.startswith("    ")]
    return [(number, line) for number, line in lines if re.match(r"\s*#", line)]


def _cpp_prose(text: str) -> list[tuple[int, str]]:
    found = []
    for match in CPP_TOKEN.finditer(text):
        group = match.lastgroup
        if group is None:  # a number or a character
            continue
        words = match[group]
        if group in ("line", "block") or " " in words:
            first = text.count("\n", 0, match.start(group)) + 1
            found += [(first + offset, line) for offset, line in enumerate(words.splitlines())]
    return found


def _python_prose(text: str) -> list[tuple[int, str]]:
    found = [(token.start[0], token.string)
             for token in tokenize.generate_tokens(io.StringIO(text).readline)
             if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            found += [(node.lineno + offset, CODE_SPAN.sub("", line))
                      for offset, line in enumerate(node.value.splitlines())]
    return found


def replaced_words(name: str, text: str, words: dict[str, str]) -> list[str]:
    """Where a file has words that the glossary replaces, with what to write."""
    pattern = re.compile("|".join(f"(?P<w{i}>\\b(?:{word})\\b)" for i, word in enumerate(words)),
                         re.IGNORECASE)
    better = list(words.values())
    return [f"{name}:{number}: {match[0]} -> {better[int(match.lastgroup[1:])]}"
            for number, line in prose(name, text) for match in pattern.finditer(line)
            if not match[0].endswith(" None")]  # `is None` is Python


def test_the_glossary_is_short():
    assert 20 <= len(ROW.findall((ROOT / "docs" / "glossary.md").read_text())) - 1 <= \
        GLOSSARY_ROWS_MAX
    assert len(glossary()) > 20


def test_prose_has_plain_words():
    words, looked_at, wrong = glossary(), 0, []
    for name in FILES:
        if not name.startswith(NOT_OURS) and Path(name).suffix in (
                ".py", ".cc", ".h", ".md", ".sh", ".patch", ".ops"):
            looked_at += 1
            wrong += replaced_words(name, text_of(name), words)
    assert looked_at > 0
    assert wrong == []


@pytest.mark.parametrize("name, text", [
    ("a.py", "# whoever calls\n"), ("a.py", '"""Says.\n\nWhoever calls.\n"""\n'),
    ("a.py", "f('no such file: whoever calls')\n"), ("a.cc", "int a;  // whoever calls\n"),
    ("a.cc", 'CHECK(a, "whoever calls");\n'), ("a.md", "# Head\n\nWhoever calls.\n"),
    ("a.patch", "# origin: whoever calls\n"), ("a.sh", "# whoever calls\n"),
    ("a.cc", '"//";  // whoever calls\n'), ("a.cc", "f('\"', \"whoever calls\");\n"),
    ("a.cc", "/* The\n   whoever calls */\n"), ("a.cc", 'R"X(")\nwhoever calls)X";\n'),
    ("a.cc", "f(1'000'000, '\\'', \"whoever calls\");\n"),
    ("a.cc", 'f("\\\\", "whoever calls");\n'),
])
def test_a_replaced_word_is_seen(name, text):
    assert len(replaced_words(name, text, glossary())) == 1


@pytest.mark.parametrize("name, text", [
    ("a.py", "whoever = 1\n"), ("a.cc", "int whoever;\n"), ("a.md", "The name `whoever`.\n"),
    ("a.cc", 'f("assert a is None");\n'),
    ("a.cc", 'f("a b", whoever, "c d");\n'), ("a.cc", "f('\"', whoever, '\"');\n"),
    ("a.cc", 'R"(a")" + whoever + R"(" b)";\n'), ("a.cc", "f(\"//\", 1'0, whoever);\n"),
    ("a.md", "    whoever\n"), ("a.patch", "-// whoever\n"),
    ("a.patch", "# program:\n#   whoever(t0)\n"),
])
def test_code_and_quotes_are_no_prose(name, text):
    assert replaced_words(name, text, glossary()) == []
