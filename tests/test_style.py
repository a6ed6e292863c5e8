"""The rules of style as tests, over the files that git tracks."""

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE_LINES_MAX = 300
FUNCTION_LINES_MAX = 70
LINE_LENGTH_MAX = 100
# Formats whose lines cannot be broken: tables, patches, reports, programs' logs.
FREE_WIDTH = (".md", ".patch", ".txt", ".json", ".csv", ".yml", ".svg")
FREE_FOLDERS = ("repro/", "corpus/")
SOURCES = (".py", ".cc", ".h", ".ops", ".sh", "slotfuzz")
FORBIDDEN_FOLDERS = {"util", "utils", "common", "helpers", "misc"}
PYTHON_H_FOLDERS = ("core/python/", "harness/engine/", "tests/", "bench/")


def tracked() -> list[str]:
    """Paths from the root of all files that git has, or would have after `git add`."""
    names = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def text_of(name: str) -> str:
    """The file's text; bytes that are no UTF-8 are replaced."""
    return (ROOT / name).read_text(errors="replace")


FILES = tracked()
SOURCE_FILES = [name for name in FILES if name.endswith(SOURCES)
                and not name.startswith(FREE_FOLDERS)]


def is_bash(name: str) -> bool:
    """Whether bash runs a file: its name or its first line says so."""
    return name.endswith(".sh") or text_of(name).startswith("#!/usr/bin/env bash")


def parse_as_bash(text: str) -> subprocess.CompletedProcess:
    """Lets bash read a script without running it."""
    return subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)


def test_scripts_are_valid_bash():
    scripts = [name for name in FILES if is_bash(name)]
    assert len(scripts) > 10
    assert {name: wrong.stderr for name in scripts
            if (wrong := parse_as_bash(text_of(name))).returncode} == {}


def test_a_script_without_the_head_of_a_function_is_seen():
    assert parse_as_bash("configure() {\n  local tree=$1\n}\n").returncode == 0
    assert parse_as_bash("this was a head\n  local tree=$1\n}\n").returncode != 0


def test_there_are_files_to_check():
    assert len(SOURCE_FILES) > 20


def test_files_are_short():
    assert [name for name in SOURCE_FILES
            if len(text_of(name).splitlines()) > FILE_LINES_MAX] == []


def test_lines_are_short():
    assert [f"{name}:{number}" for name in SOURCE_FILES if not name.endswith(FREE_WIDTH)
            for number, line in enumerate(text_of(name).splitlines(), 1)
            if len(line) > LINE_LENGTH_MAX] == []


def test_every_file_says_what_it_is():
    silent = []
    for name in SOURCE_FILES:
        lines = [line for line in text_of(name).splitlines() if not line.startswith("#!")]
        if not lines or not lines[0].startswith(('"""', "//", "#")):
            silent.append(name)
        elif lines[0].startswith(("#include", "#pragma")):
            silent.append(name)
    assert silent == []


def test_nothing_is_left_for_later():
    words = re.compile(r"\b(" + "TO" + "DO|FIX" + r"ME|X" + r"XX)\b")
    assert [name for name in SOURCE_FILES if words.search(text_of(name))] == []


def test_no_folder_for_everything():
    assert [name for name in FILES if FORBIDDEN_FOLDERS & set(Path(name).parts[:-1])] == []


def test_python_header_stays_in_its_place():
    assert [name for name in SOURCE_FILES if not name.startswith(PYTHON_H_FOLDERS)
            and re.search(r"#include\s*<Python\.h>", text_of(name))] == []


def test_no_path_of_this_machine():
    place = str(ROOT) + "/"
    assert [name for name in FILES if place in text_of(name)] == []


CITED = re.compile(r"(?<![\w/.*<])((?:core|harness|targets|tests|docs|ci|bench|mutants|corpus)"
                   r"/[\w./-]+\.(?:cc|h|py|md|sh|def|patch|toml)|[a-z_]+\.md)\b")
COMMENT = re.compile(r"^\s*(?://|#|\*)|^\s*\"\"\"")


def citations(name: str, text: str) -> list[str]:
    """The files of this project that a document, or the comments of a source, names."""
    lines = text.splitlines()
    told = lines if name.endswith(".md") else [line for line in lines if COMMENT.match(line)]
    return [match[1] for line in told for match in CITED.finditer(line)]


def test_what_is_cited_exists():
    known = set(FILES) | {Path(name).name for name in FILES}
    cited = {name: citations(name, text_of(name)) for name in FILES
             if name.startswith(("core/", "harness/", "targets/", "docs/", "README"))}
    assert sum(map(len, cited.values())) > 50
    assert {name: gone for name, words in cited.items()
            if (gone := [word for word in words if word not in known and "NAME" not in word])
            } == {}


def test_a_citation_of_what_is_gone_is_seen():
    text = "// See core/python/gone.cc and gone.md.\nint core;  // core/code.h\n"
    assert citations("core/x.cc", text) == ["core/python/gone.cc", "gone.md"]


def long_python_functions(text: str) -> list[str]:
    """Names of functions over FUNCTION_LINES_MAX."""
    return [node.name for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and node.end_lineno - node.lineno + 1 > FUNCTION_LINES_MAX]


def long_cpp_functions(text: str) -> list[int]:
    """First lines of blocks that look like functions and are over FUNCTION_LINES_MAX.

    A function begins at a line that ends with `{`, has a `)` before it, and is not indented
    deeper than a class member; it ends at the `}` with the same indentation.
    """
    lines, found = text.splitlines(), []
    for start, line in enumerate(lines):
        if not re.match(r"^ {0,4}\S.*\).*\{$", line) or re.match(
                r"\s*(namespace|class|struct|enum)\b", line):
            continue
        first, open_count = start, line.count("(") - line.count(")")
        while open_count < 0 and first > 0:
            first -= 1
            open_count += lines[first].count("(") - lines[first].count(")")
        closing = re.match(" *", lines[first])[0] + "}"
        end = next((i for i in range(start + 1, len(lines))
                    if lines[i].startswith(closing)), start)
        if end - start + 1 > FUNCTION_LINES_MAX:
            found.append(start + 1)
    return found


def test_functions_are_short():
    long = {}
    for name in SOURCE_FILES:
        find = long_python_functions if name.endswith(".py") else long_cpp_functions
        if name.endswith((".py", ".cc", ".h")) and find(text_of(name)):
            long[name] = find(text_of(name))
    assert long == {}


def test_a_long_function_is_seen():
    body = "  f();\n" * FUNCTION_LINES_MAX
    assert long_cpp_functions("void g(int a) {\n" + body + "}\n") == [1]
    assert long_cpp_functions("void g(int a,\n  int b) {\n" + body + "}\n") == [2]
    assert long_cpp_functions("void g(int a,\n  int b) {\n}\n" + body) == []
    assert long_python_functions("def g():\n" + "    f()\n" * FUNCTION_LINES_MAX) == ["g"]


def test_the_walk_has_at_most_twelve_hops_and_names_files():
    hops = re.findall(r"^\| (\d+) [^|]+\| ([^|]+) \|", text_of("docs/walk.md"), re.MULTILINE)
    assert [int(number) for number, _ in hops] == list(range(1, len(hops) + 1))
    assert 8 <= len(hops) <= 12
    assert all(set(citations("docs/walk.md", files)) & set(FILES) for _, files in hops)
