"""The protocols cost nothing: with StdPolicy they compile to what hand-written code compiles to."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMPILER = shutil.which("clang++-19") or shutil.which("clang++-14")

HEAD = """
#include <atomic>
#include "core/c10/impl/protocol/combined_count.h"
#include "core/c10/impl/protocol/share_count.h"
#include "core/c10/impl/protocol/slot.h"
#include "core/c10/impl/protocol/vtable_word.h"
using namespace slotcore::impl;
using namespace slotcore::impl::protocol;
using Status = PyInterpreterStatus;
using Tags = Tag<StdPolicy, int>;
using Word = PyObjectWord<StdPolicy>;
using Count = CombinedCount<StdPolicy>;
using VTables = VTableWord<StdPolicy, int>;
using Shares = ShareCount<StdPolicy>;
constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel;
struct Wrapper { void* impl; void incref() const noexcept; void decref() const noexcept;
                 bool try_incref() const noexcept; };
struct ByHand {
  std::atomic<unsigned long> word;
  bool lock(Wrapper wrapper) noexcept {
    bool held = false;
    unsigned long seen = word.load(relaxed);
    do {
      if (static_cast<unsigned>(seen) == 0) {
        if (held) slotcore::check_failed("a wrapper that lives has its reference",
                                         "combined_count.h", CHECK_LINE);
        return false;
      }
      if ((seen & 1ul << 63) != 0 && static_cast<unsigned>(seen) == 1 && !held) {
        if (!wrapper.try_incref()) return false;
        held = true;
      }
    } while (!word.compare_exchange_weak(seen, seen + 1, acquire, relaxed));
    if (held && static_cast<unsigned>(seen) != 1) wrapper.decref();
    return true;
  }
};
"""

# The template's code, then the hand-written code; in both the object is `self`.
PAIRS = {
    "tag load": ("int* f(Tags* self) { return self->load(); }",
                 "int* f(std::atomic<int*>* self) { return self->load(acquire); }"),
    "claim": ("int* f(Tags* self, int* me) {"
              " return self->claim(me, Status::MAYBE_UNINITIALIZED); }",
              "int* f(std::atomic<int*>* self, int* me) { int* seen = nullptr;"
              " return self->compare_exchange_strong(seen, me, acq_rel, acquire) ? me : seen; }"),
    "fresh claim": ("int* f(Tags* self, int* me) {"
                    " return self->claim(me, Status::DEFINITELY_UNINITIALIZED); }",
                    "int* f(std::atomic<int*>* self, int* me) {"
                    " self->store(me, relaxed); return me; }"),
    "pointer": ("unsigned long f(Word* self) { return self->pointer(); }",
                "unsigned long f(std::atomic<unsigned long>* self) {"
                " return self->load(acquire) & ~1ul; }"),
    "set": ("void f(Word* self, unsigned long to) { self->set(to); }",
            "void f(std::atomic<unsigned long>* self, unsigned long to) {"
            " self->store(to, release); }"),
    "strong": ("unsigned f(Count* self) { return self->strong(); }",
               "unsigned f(std::atomic<unsigned long>* self) { return self->load(acquire); }"),
    "unescaped": ("bool f(Count* self) { return self->unescaped(); }",
                  "bool f(std::atomic<unsigned long>* self) {"
                  " return (self->load(acquire) & ~(1ul << 63)) == (1ul << 32 | 1); }"),
    "weak incref": ("void f(Count* self) { self->weak_incref(); }",
                    "void f(std::atomic<unsigned long>* self) {"
                    " self->fetch_add(1ul << 32, relaxed); }"),
    "incref": ("bool f(Count* self) { return self->incref(); }",
               "bool f(std::atomic<unsigned long>* self) {"
               " unsigned long before = self->fetch_add(1, relaxed);"
               " if ((before & 1ul << 63) == 0 || (unsigned)before != 1) return false;"
               " std::atomic_thread_fence(acquire); return true; }"),
    "decref": ("bool f(Count* self) { return self->decref() == Count::Left::kNobody; }",
               "bool f(std::atomic<unsigned long>* self) {"
               " return (unsigned)self->fetch_sub(1, acq_rel) == 1; }"),
    "lock": ("bool f(Count* self, Wrapper wrapper) { return self->lock(wrapper); }",
             "bool f(ByHand* self, Wrapper wrapper) { return self->lock(wrapper); }"),
    "vtable": ("int* f(VTables* self) { return self->load(); }",
               "int* f(std::atomic<int*>* self) { return self->load(acquire); }"),
    "disarm": ("void f(VTables* self, int* none) { self->disarm(none); }",
               "void f(std::atomic<int*>* self, int* none) { self->store(none, release); }"),
    "share": ("void f(Shares* self) { self->add(); }",
              "void f(std::atomic<unsigned long>* self) { self->fetch_add(1, relaxed); }"),
    "drop share": ("bool f(Shares* self) { return self->drop(); }",
                   "bool f(std::atomic<unsigned long>* self) {"
                   " return self->fetch_sub(1, acq_rel) == 1; }"),
}


# The same as a pair above, but for one instruction.
DEARER = PAIRS["tag load"][1].replace("return self", "self->fetch_add(1, relaxed); return self")


@pytest.fixture(scope="module")
def instructions():
    """The instructions of each source, a line each, without names of labels and of constants."""
    sources = [source for pair in PAIRS.values() for source in pair] + [DEARER]
    text = HEAD + "\n".join(f"namespace n{place} {{ {source} }}"
                            for place, source in enumerate(sources))
    command = [COMPILER, "-std=c++20", "-O2", "-S", "-o", "-", "-x", "c++", f"-I{ROOT}",
               "-DCHECK_LINE=100", "-fno-asynchronous-unwind-tables", "-"]
    assembly = subprocess.run(command, input=text, capture_output=True, text=True,
                              check=True).stdout
    return {source: _instructions(assembly, f"_ZN{len(f'n{place}')}n{place}1fE")
            for place, source in enumerate(sources)}


def _instructions(assembly, name):
    body = assembly[re.search(rf"^{name}.*:", assembly, re.MULTILINE).end():]
    body = body[:body.index(f".size\t{name}")]
    lines = [line.split("#")[0].strip() for line in body.splitlines()]
    code = [line for line in lines if line and not line.startswith((".", "/"))]
    return [re.sub(r"\.L[\w.]+|\$\d{2,3}, %edx|\$\d{2,3}, %ecx", "_", line) for line in code]


@pytest.mark.parametrize("pair", PAIRS)
def test_a_protocol_is_as_cheap_as_code_by_hand(pair, instructions):
    template, by_hand = (instructions[source] for source in PAIRS[pair])
    assert template and template == by_hand


def test_a_dearer_protocol_is_noticed(instructions):
    assert instructions[PAIRS["tag load"][0]] != instructions[DEARER]
