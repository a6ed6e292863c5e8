// The ledger alone: what a program leaves, and whether the contract allows it.
#include "harness/engine/judge/ledger.h"

#include <gtest/gtest.h>

#include "harness/engine/check.h"
#include "tests/engine/judge/tampered.h"

namespace slotfuzz {
namespace {

const std::vector<std::string> kNames = {"tag", "me", "other", "owner"};

// Settles when the reset is over.
class Settling final : public Watcher {
 public:
  Settling(Ledger& ledger, bool made_cpp_cycle) : ledger_(ledger), made_({made_cpp_cycle, {}, {}}) {
    if (!made_cpp_cycle) return;
    made_.cycles.push_back({Kept::kOwnsItself, "t0", {}, {}});
    made_.owned = {&ledger_, this};
  }
  void start(const Program&) override {}
  void before_line(std::size_t, const Line&) override {}
  void after_line(std::size_t, const Line&, PyObject*) override {}
  void after_drop() override {
    result = ledger_.settle(made_, {[](const void*) { return ""; }, kNames});
  }

  Ledger::Result result;

 private:
  Ledger& ledger_;
  CppCycles made_;
};

// The ledger's result for a program, after Python that runs before it; for an excused result, also
// the result of the next run. Runs in a child, since the program may leave objects.
std::string settled(const char* before, std::string_view text, bool made_cpp_cycle = false,
                    std::span<const ImplKindRow> rows = impl_kind_rows()) {
  return reported_by_child([&](int pipe) {
    Session& session = test_session();
    PyObject* names = session.interpreter.names();
    CHECK(Ref(PyRun_String("answers = [0]", Py_file_input, names, names)), take_error());
    const Layout layout(session.interpreter, rows);
    const Capabilities capabilities(session.interpreter, layout);
    Ledger ledger(session.interpreter, layout, capabilities, kNames);
    CHECK(Ref(PyRun_String(before, Py_file_input, names, names)), take_error());
    const Program program = session.printer.parse(text);
    CHECK(program.dropped == 0, text);
    std::string reported;
    for (const bool cycle : {made_cpp_cycle, false}) {
      Settling settling(ledger, cycle);
      session.executor.run(reported.empty() ? program : Program(), settling);
      const Ledger::Result& result = settling.result;
      const char* const words[] = {"even", "excused", "uneven", "unknown"};
      reported.append(reported.empty() ? "" : ", then ")
          .append(words[static_cast<int>(result.balance)]);
      if (result.balance == Ledger::Balance::kUneven) {
        reported += ' ' + std::to_string(result.left) + ' ' + ledger.counts()[result.count].noun;
      }
      if (!result.error.empty()) reported += ": " + result.error;
      if (result.balance != Ledger::Balance::kExcused) break;
    }
    if (write(pipe, reported.data(), reported.size()) < 0) std::abort();
  });
}

TEST(LedgerTest, what_goes_is_even) {
  // The collector of the core traverses the C++ owner.
  EXPECT_EQ(settled("", "t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.owner = t0\n"), "even");
  EXPECT_EQ(settled("", "t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.me = s0\n"), "even");
  EXPECT_EQ(settled("", "s0 = Resurrecting(1)\ndel s0\n"), "even");
}

TEST(LedgerTest, what_python_alone_keeps_is_reported_with_its_count) {
  EXPECT_EQ(settled("leak = T.UntypedStorage(1)", ""), "uneven 1 impls");
  EXPECT_EQ(settled("leak = [T.ones(1), T.UntypedStorage(1)]", "t0 = T.ones(1)\n"),
            "uneven 3 impls");
}

TEST(LedgerTest, a_cycle_through_an_owner_in_cpp_is_excused_and_taken_apart) {
  EXPECT_EQ(settled("",
                    "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"
                    "with hermetic(): s1 = t0.untyped_storage()\ns0.other = s1\n"),
            "excused, then even");
}

TEST(LedgerTest, a_circle_of_cpp_alone_is_excused_if_a_line_has_closed_it) {
  const char* circle =
      "enter_hermetic()\nt0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\nt1.grad = t0\n";
  EXPECT_EQ(settled("", circle, true), "excused, then even");
  EXPECT_EQ(settled("", circle, false), "uneven 4 impls");
}

TEST(LedgerTest, a_leak_with_a_graph_is_reported) {
  // Two tensors, an alias that the node of relu() saves, two storages, and two nodes.
  EXPECT_EQ(settled("leak = T.ones(1).requires_grad_().relu()", "t0 = T.ones(1)\n"),
            "uneven 7 impls");
}

TEST(LedgerTest, a_tensor_that_owns_itself_through_its_graph_is_excused) {
  EXPECT_EQ(settled("", "t0 = T.ones(1)\nt0.requires_grad_()\nt1 = t0.add(t0)\nt0.grad = t1\n"),
            "excused, then even");
}

TEST(LedgerTest, what_two_wrappers_own_through_a_graph_is_excused_and_taken_apart) {
  EXPECT_EQ(settled("",
                    "enter_hermetic()\nt0 = T.ones(1).requires_grad_()\n"
                    "n0 = t0.view_as(t0).grad_fn.next_functions[0][0]\n"
                    "h0 = t0.register_hook(hook_of(n0))\n"
                    "h0 = n0.register_hook(node_hook_of(t0))\n"),
            "excused, then even");
}

TEST(LedgerTest, a_subject_that_gives_no_number_is_reported) {
  std::vector<ImplKindRow> rows(impl_kind_rows().begin(), impl_kind_rows().end());
  for (ImplKindRow& row : rows) row.counts = {{"impls", "(lambda: answers[0])"}};
  EXPECT_EQ(settled("answers[0] = 0", "", false, rows), "even");
  EXPECT_EQ(settled("answers[0] = 'none'", "", false, rows), "unknown: TypeError: no number");
  EXPECT_EQ(settled("answers.clear()", "", false, rows),
            "unknown: IndexError: list index out of range");
}

TEST(LedgerTest, functions_that_kinds_share_are_asked_once) {
  Session& session = test_session();
  const Capabilities capabilities(session.interpreter, session.layout);
  const Ledger ledger(session.interpreter, session.layout, capabilities, kNames);
  ASSERT_EQ(ledger.counts().size(), impl_kind_rows()[0].counts.size());
  EXPECT_EQ(ledger.counts()[0].noun, "impls");
  EXPECT_EQ(ledger.counts()[1].noun, "wrappers");
}

TEST(LedgerTest, a_subject_that_counts_nothing_is_asked_what_the_collector_tracks) {
  std::vector<ImplKindRow> rows(impl_kind_rows().begin(), impl_kind_rows().end());
  rows[0].counts = {{"impls", "T._no_such_function"}};
  EXPECT_EQ(settled("", "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n", false, rows), "even");
  EXPECT_EQ(settled("leak = T.UntypedStorage(1)", "", false, rows), "uneven 1 wrappers");
}

TEST(LedgerTest, what_a_finalizer_keeps_after_the_reset_is_dropped) {
  std::vector<ImplKindRow> rows(impl_kind_rows().begin(), impl_kind_rows().end());
  rows[0].counts = {{"impls", "T._no_such_function"}};
  // The ledger makes a backward before it collects again.
  const char* const late =
      "left = {0: T.UntypedStorage(1)}\n"
      "class Late:\n"
      "    def __del__(self): resurrected.append(left.pop(0))\n"
      "def trivial_backward():\n"
      "    late = Late()\n"
      "    late.me = late\n";
  EXPECT_EQ(settled(late, "", false, rows), "even");
}

}  // namespace
}  // namespace slotfuzz
