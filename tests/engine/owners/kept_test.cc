// Which cycles keep what a program leaves, in words; and which of them the contract excuses.
#include "harness/engine/owners/kept.h"

#include <gtest/gtest.h>

#include "tests/engine/judge/tampered.h"

namespace slotfuzz {
namespace {

std::string words_of(const KeptCycle& kept) {
  std::string words(word_of(kept.kept));
  words += " " + kept.part + ":";
  for (const auto& [name, link] : kept.cycle) {
    words += " " + name + (link.empty() ? "" : " " + link);
  }
  return words + "\n";
}

// What the judge says of a program with tampering. Runs in a child, since the program may leave
// objects.
std::string kept_after(std::string_view text) {
  return reported_by_child([&](int pipe) {
    Session& session = test_session();
    Tampering tampering(text, session.printer, session.interpreter, session.judge,
                        [](const Verdict&) {});
    session.executor.run(tampering.program(), tampering);
    std::string reported = session.judge.verdict().found() ? "leak\n" : "";
    for (const KeptCycle& one : session.judge.kept()) reported += words_of(one);
    if (write(pipe, reported.data(), reported.size()) < 0) std::abort();
  });
}

TEST(KeptTest, a_program_that_leaves_nothing_has_no_cycle) {
  EXPECT_EQ(kept_after("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.owner = t0\n"), "");
}

TEST(KeptTest, what_two_wrappers_own_together_stays) {
  EXPECT_EQ(kept_after("t0 = T.ones(1)\nt1 = t0.view(-1)\ns0 = t0.untyped_storage()\n"
                       "s0.owner = t0\nt0.other = t1\n"),
            "shared s0: s0 .owner t0 storage\n");
  EXPECT_EQ(kept_after("t0 = T.ones(1).requires_grad_()\nt1 = fn('save_input').apply(t0)\n"
                       "t0.other = t1\n"),
            "shared t0: t0 .other t1 .grad_fn FnBackward .next_functions AccumulateGrad"
            " .variable\n");
}

TEST(KeptTest, bytes_that_two_storages_have_borrowed_stay) {
  const std::string lent = "s0 = T.UntypedStorage(1)\nm0 = memoryview(s0)\n"
                           "t0 = T.frombuffer(m0, dtype=T.uint8)\ns1 = t0.untyped_storage()\n";
  EXPECT_EQ(kept_after(lent + "s0.other = s1\n"), "");
  EXPECT_EQ(kept_after(lent + "l0 = [s0]\ns0.box = l0\ns2 = s1[:1]\nl0.append(s2)\n"
                              "l0.append(s1)\n"),
            "shared bytes: bytes buffer s0 .box l0 s1 data\n");
}

TEST(KeptTest, what_a_hermetic_wrapper_owns_too_stays) {
  EXPECT_EQ(kept_after("t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"
                       "with hermetic(): s1 = t0.untyped_storage()\ns0.other = s1\n"),
            "shared s0: s0 .other s1 hermetic wrapper\n");
}

// T6: the wrapper of an interpreter that has ended lives as long as the impl.
TEST(KeptTest, a_wrapper_of_another_interpreter_is_an_owner) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer refuses threads in a child of a process with threads";
#endif
  EXPECT_EQ(kept_after("o0 = Other()\nt0 = T.ones(1)\nwith hermetic(): s0 = t0.untyped_storage()\n"
                       "t1 = t0.view(-1)\no0.offer(s0)\nt0.grad = t1\n"),
            "owns itself t0: t0 .grad t1 ._base\n");
  EXPECT_EQ(kept_after("o0 = Other()\ns0 = T.UntypedStorage(1)\nenter_hermetic()\nt0 = T.ones(1)\n"
                       "o0.refuse(t0)\ns0.owner = t0\nt0.set_(s0)\n"),
            "shared s0: s0 .owner t0 hermetic wrapper t0 storage\n");
}

TEST(KeptTest, what_owns_itself_in_cpp_stays) {
  EXPECT_EQ(kept_after("t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\nt1.grad = t0\n"),
            "owns itself t0: t0 .grad t1 .grad\n");
  EXPECT_EQ(kept_after("t0 = T.ones(1)\nt0.requires_grad_()\nt1 = t0.add(t0)\nt0.grad = t1\n"),
            "owns itself t0: t0 .grad t1 .grad_fn AddBackward0 .next_functions AccumulateGrad"
            " .variable\n");
}

TEST(KeptTest, a_cycle_that_has_no_wrapper_at_the_end_is_named_too) {
  EXPECT_EQ(kept_after("s0 = T.UntypedStorage(1)\nenter_hermetic()\n"
                       "t0 = T.empty(0, dtype=T.uint8).set_(s0)\nt1 = t0.view(-1)\nt0.grad = t1\n"),
            "owns itself t0: t0 .grad tensor ._base\n");
}

// `t1` is no part of it, but leads to it.
TEST(KeptTest, a_cycle_that_is_closed_after_its_last_wrapper_died_is_named_too) {
  const std::string kept = kept_after(
      "enter_hermetic()\nt0 = T.ones(1).requires_grad_()\nexit_hermetic()\nt1 = t0.mul(t0)\n"
      "t0 = T.ones(1)\nt1.sum().backward(create_graph=True)\n");
  EXPECT_EQ(kept.substr(0, kept.find(':')), "owns itself AccumulateGrad") << kept;
}

TEST(KeptTest, what_such_a_cycle_owns_is_kept_by_it) {
  const std::string kept = kept_after(
      "t0 = T.ones(1)\nenter_hermetic()\nt1 = t0.view(-1)\nt0.requires_grad_()\n"
      "t2 = t0.mul(t0)\nt0.register_hook(hook_of(t1))\nt1 = t0.mul(t2)\nt2.grad = t1\n");
  EXPECT_EQ(kept.substr(0, kept.find(':')), "owns itself t1") << kept;
  EXPECT_EQ(kept.find("leak"), std::string::npos) << kept;
}

// The variable holds a wrapper that the storage owns, and so does the wrapper's own cycle.
TEST(KeptTest, what_a_node_of_such_a_cycle_gets_later_is_kept_by_it) {
  const std::string kept = kept_after(
      "enter_hermetic()\nt0 = T.ones(1).requires_grad_()\nt0 = fn('nothing').apply(t0)\n"
      "t1 = t0.mul(t0)\nn0 = t0.grad_fn\nt0.grad = t1\nt1 = T.ones(1)\nt0 = T.ones(1)\n"
      "h0 = n0.register_hook(node_hook_of(t0))\n");
  EXPECT_EQ(kept.substr(0, kept.find(':')), "owns itself t1") << kept;
  EXPECT_EQ(kept.find("leak"), std::string::npos) << kept;
}

TEST(KeptTest, a_wrapper_that_such_a_cycle_preserves_is_kept_by_it) {
  const std::string kept = kept_after(
      "s0 = T.UntypedStorage(1)\nt0 = T.empty(0, dtype=T.uint8).set_(s0)\nr0 = weakref.ref(s0)\n"
      "enter_hermetic()\ns0 = T.UntypedStorage(1)\ns1 = r0()\ns1.me = s1\n"
      "t1 = T.empty(0, dtype=T.uint8).set_(s1)\nt2 = t1.view(-1)\nt1.grad = t2\n");
  EXPECT_EQ(kept.find("leak"), std::string::npos) << kept;
  EXPECT_NE(kept.find("owns itself"), std::string::npos) << kept;
}

TEST(KeptTest, a_leak_beside_a_cycle_that_is_excused_is_reported) {
  EXPECT_EQ(kept_after("t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\n!leak = T.ones(1)\n"
                       "t1.grad = t0\n"),
            "leak\nunlisted Tensor:\nowns itself t0: t0 .grad t1 .grad\n");
}

TEST(KeptTest, an_owner_that_the_subject_does_not_list_is_a_leak) {
  const std::string text =
      "t0 = T.ones(1).requires_grad_()\nt1 = t0.relu()\nn0 = t1.grad_fn\n"
      "n0.metadata['held'] = t1\n";
  EXPECT_EQ(kept_after(text), "");
  EXPECT_EQ(kept_after(text + "!import ctypes\n!ctypes.pythonapi.PyObject_GC_UnTrack("
                              "ctypes.py_object(n0.metadata))\n"),
            "leak\nunlisted t1:\n");
}

TEST(KeptTest, what_one_wrapper_alone_owns_is_a_leak) {
  // The list says that no wrapper owns the tensors beside their circle.
  EXPECT_EQ(kept_after("t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\nt1.grad = t0\n"
                       "!original = T.Tensor._owned_by_cpp\n"
                       "!T.Tensor._owned_by_cpp = lambda self: [(*row[:5], False)"
                       " for row in original(self)]\n"),
            "leak\nC++ alone t0: t0 .grad t1 .grad\n");
}

}  // namespace
}  // namespace slotfuzz
