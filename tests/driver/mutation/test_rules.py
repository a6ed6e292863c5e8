"""Each rule on a small piece of C++: text before -> after, with mutant N as `chosen(N)`."""

import pytest

from slotfuzz.mutation import rewrite
from slotfuzz.mutation.finder import Finder
from slotfuzz.mutation.site import CHOSEN
from slotfuzz.mutation.source import Source

HEAD = """
struct Lock { Lock(int); ~Lock(); };
struct Ref { static Ref borrow(int*); static Ref steal(int*); };
namespace std { enum memory_order { memory_order_relaxed, memory_order_acquire };
constexpr inline memory_order acquire = memory_order_acquire; }
int f(); int g(int, int); void incref(); void check(bool, int); int load(std::memory_order);
#define NEW(x) g(x, x)
"""


def sites(folder, text: str) -> tuple[Finder, Source]:
    """The sites of TEXT after HEAD."""
    (folder / "core.cc").write_text(HEAD + text)
    source = Source(folder, "core.cc", ["-std=c++20"])
    return Finder(source), source


def mutated(folder, text: str, *rules: str) -> str:
    """TEXT with the mutants of RULES."""
    finder, source = sites(folder, text)
    chosen = [site for site in finder.sites if site.rule in rules]
    edits = {number: site.edit for number, site in enumerate(chosen, 1)}
    return rewrite.write(source.text, edits).text.removeprefix(HEAD).replace(CHOSEN, "chosen")


@pytest.mark.parametrize("rules, before, after", [
    ("delete", "void h() { f(); g(1, 2); }",
     "void h() { { if (!chosen(1)) f(); } { if (!chosen(2)) g(1, 2); } }"),
    ("drop-count", "void h(int i) { incref(); i++; }",
     "void h(int i) { { if (!chosen(1)) incref(); } { if (!chosen(2)) i++; } }"),
    ("drop-count", "Ref h(int* p) { return Ref::borrow(p); }",
     "Ref h(int* p) { return (chosen(1) ? Ref::steal(p) : Ref::borrow(p)); }"),
    ("always never", "void h() { if (f()) g(1, 2); }",
     "void h() { if ((chosen(1) || ((!chosen(2) && (f()))))) g(1, 2); }"),
    ("never", "void h() { while (f()) g(1, 2); }",
     "void h() { { if (!chosen(1)) while (f()) g(1, 2); } }"),
    ("never", "void h() { if (int i = f()) g(i, 2); }",
     "void h() { { if (!chosen(1)) if (int i = f()) g(i, 2); } }"),
    ("negate", "bool h(int i) { return i == f(); }",
     "bool h(int i) { return (static_cast<bool>(i == f()) != chosen(1)); }"),
    ("drop-term", "bool h(bool a, bool b) { return a && b; }",
     "bool h(bool a, bool b) { return (chosen(1) || (a)) && (chosen(2) || (b)); }"),
    ("drop-term", "bool h(bool a, bool b) { return a || b; }",
     "bool h(bool a, bool b) { return (!chosen(1) && (a)) || (!chosen(2) && (b)); }"),
    ("off-by-one", "bool h(int a, int b) { return a < b; }",
     "bool h(int a, int b) { return a < ((b) + chosen(1)); }"),
    ("off-by-one", "bool h(int a, int b) { return a <= b; }",
     "bool h(int a, int b) { return ((a) + chosen(1)) <= b; }"),
    ("off-by-one", "int h(int a) { return a - 1; }",
     "int h(int a) { return a - (1 + chosen(1)); }"),
    ("swap", "int h(int a, int b) { return g(a, b); }",
     "int h(int a, int b) { return (chosen(1) ? g(b, a) : g(a, b)); }"),
    ("early-return", "int h() { f(); return f(); }",
     "int h() { if (chosen(1)) return {}; f(); return f(); }"),
    ("weaker-order", "int h() { return load(std::memory_order_acquire); }",
     "int h() { return load((chosen(1) ? std::memory_order_relaxed"
     " : std::memory_order_acquire)); }"),
    ("drop-cleanup", "void h(int i) { Lock lock(i); f(); }",
     "void h(int i) { std::optional<decltype(Lock(i))> lock;"
     " if (!chosen(1)) lock.emplace(i); f(); }"),
    ("drop-cleanup", "Lock::~Lock() { f(); f(); }",
     "Lock::~Lock() { if (chosen(1)) return; { if (!chosen(2)) f(); } { if (!chosen(3)) f(); } }"),
])
def test_a_rule_writes_its_mutants(tmp_path, rules, before, after):
    assert mutated(tmp_path, before, *rules.split()) == after


@pytest.mark.parametrize("text", [
    "constexpr int h() { return 1 + 2; }",
    "void h() { constexpr int i = 1; (void)i; }",
    "void h() { static_assert(1 == 1); }",
    "void h() { check(f() == 1, 2); }",
    "int h() { return NEW(1); }",
    "int a[3] = {1, 2, 3};",
    "void h() { throw f; }",
])
def test_what_cannot_or_need_not_be_mutated_has_no_site(tmp_path, text):
    finder, _ = sites(tmp_path, text)
    assert [site.rule for site in finder.sites if site.rule != "early-return"] == []


def test_what_is_left_out_is_counted(tmp_path):
    finder, _ = sites(tmp_path, "constexpr bool h(bool a) { return a && true; }")
    assert finder.left_out.total() > 0 and not finder.sites


def test_a_name_stays_when_other_code_changes(tmp_path):
    before, _ = sites(tmp_path, "int h(int a) { return g(a, 1);  // one\n}")
    after, _ = sites(tmp_path, "// More.\nint i() { return 1; }\nint h(int a) { return g(a, 1);\n}")
    assert {site.name for site in before.sites} <= {site.name for site in after.sites}
    assert len({site.name for site in after.sites}) == len(after.sites)


def test_an_error_is_blamed_on_the_edit_that_stands_there(tmp_path):
    finder, source = sites(tmp_path, "bool h(bool a, int b) { return a && b < f(); }")
    edits = {number: site.edit for number, site in enumerate(finder.sites, 1)}
    written = rewrite.write(source.text, edits)
    for number in edits:
        assert written.at(written.text.index(f"{CHOSEN}({number})")) == {number}
    inner = next(number for number, site in enumerate(finder.sites, 1)
                 if site.rule == "off-by-one" and site.code == "f()")
    assert written.at(written.text.index("f()", written.text.index("bool h"))) == {inner}
