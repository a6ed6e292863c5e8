// Runs programs on the fixed core: the effects on namespace, state and verdict.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

class RunTest : public ::testing::Test {
 protected:
  const Verdict& verdict_of(std::string_view text) {
    session_.run(session_.printer.parse(text));
    return session_.judge.verdict();
  }

  Session& session_ = test_session();
};

TEST_F(RunTest, too_many_compiled_lines_are_forgotten_and_compiled_again) {
  LineEvaluator evaluator(session_.interpreter, session_.printer);
  const Program program = session_.printer.parse("s0 = T.UntypedStorage(1)\ns0.nbytes()\ndel s0\n");
  ASSERT_EQ(program.lines.size(), 3u);
  for (int round = 0; round < 2; ++round) {
    for (const Line& line : program.lines) EXPECT_TRUE(evaluator.run(line));
    evaluator.forget(3);
    EXPECT_EQ(evaluator.size(), 3u);
    evaluator.forget(2);
    EXPECT_EQ(evaluator.size(), 0u);
  }
}

// Counts, for each op, the runs and those that did not raise.
class Counting final : public Watcher {
 public:
  explicit Counting(Judge& judge) : judge_(judge) {}
  void start(const Program& program) override { judge_.start(program); }
  void before_line(std::size_t index, const Line& line) override {
    judge_.before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    ++runs[line.op];
    if (!raised) ++successes[line.op];
    judge_.after_line(index, line, raised);
  }
  void after_drop() override { judge_.after_drop(); }

  std::map<std::uint16_t, int> runs, successes;

 private:
  Judge& judge_;
};

TEST_F(RunTest, every_op_is_executed_and_can_succeed) {
  Counting counting(session_.judge);
  const Vocabulary quick(session_.table, quick_ops(session_), session_.weights);
  const Mutator mutator(session_.table, quick);
  Rng rng(1);
  for (int round = 0; round < 10000; ++round) {
    const Program program = mutator.generate(rng);
    session_.executor.run(program, counting);
    ASSERT_FALSE(session_.judge.verdict().found())
        << session_.printer.print(program) << session_.judge.verdict().describe();
  }
  // The generator above leaves out the slow ops, and ops that few programs can run succeed there
  // only by luck. The seeds have them all.
  for (const char* folder :
       {"corpus/storage", "corpus/subinterpreters", "corpus/tensor", "corpus/threads"}) {
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      session_.executor.run(session_.printer.parse(read_file(file.path())), counting);
    }
  }
  for (std::uint16_t op = 0; op < session_.table.ops().size(); ++op) {
    const Op& row = session_.table.ops()[op];
    if (!session_.available[op]) continue;
    EXPECT_GT(counting.runs[op], 0) << row.name;
    // Odd ops may always raise. An op that exceeds memory must raise, and all other ops must
    // succeed.
    if (row.tier == Tier::kOdd) continue;
    EXPECT_EQ(counting.successes[op] > 0, !row.has(Effect::kExceedsMemory)) << row.name;
  }
}

TEST_F(RunTest, of_storages_only_the_legacy_spelling_is_masked_on_the_core) {
  std::set<std::string_view> masked;
  for (std::size_t op = 0; op < session_.table.ops().size(); ++op) {
    // The core has all storage ops of torch, and some of its ops on tensors. This session gives
    // graphs and fakes no weight.
    const Op& row = session_.table.ops()[op];
    const bool may_lack = row.theme == Theme::kTensor || session_.weights.of(row.theme) == 0;
    if (!session_.available[op] && !may_lack) masked.insert(session_.table.ops()[op].name);
  }
  EXPECT_EQ(masked, std::set<std::string_view>{"wrap_legacy"});
}

TEST_F(RunTest, the_seed_corpus_is_canonical_clean_and_has_every_op) {
  std::set<std::uint16_t> seen;
  for (const auto& file : std::filesystem::recursive_directory_iterator("corpus")) {
    // The corpus also contains schedules.
    if (file.path().extension() != ".py") continue;
    const std::string text = read_file(file.path());
    const Program program = session_.printer.parse(text);
    EXPECT_EQ(session_.printer.print(program), text) << file.path();
    EXPECT_FALSE(verdict_of(text).found()) << file.path() << verdict_of(text).describe();
    for (const Line& line : program.lines) seen.insert(line.op);
  }
  for (std::uint16_t op = 0; op < session_.table.ops().size(); ++op) {
    if (!session_.available[op]) continue;
    EXPECT_TRUE(seen.count(op)) << session_.table.ops()[op].name;
  }
}

TEST_F(RunTest, a_finalized_object_may_get_the_number_of_another) {
  EXPECT_FALSE(verdict_of("t0 = TensorResurrecting(1)\nt0 = TensorFinalized(1)\n"
                          "t1 = resurrected.pop()\nT.utils.swap_tensors(t1, t0)\n")
                   .found());
}

TEST_F(RunTest, nothing_is_left_of_a_program) {
  const auto size_before = PyDict_Size(session_.interpreter.names());
  EXPECT_FALSE(verdict_of("s0 = Resurrecting(1)\nr0 = weakref.ref(s0, fallen.append)\ndel s0\n"
                          "enter_hermetic()\nt0 = T.ones(1)\ns1 = t0.untyped_storage()\n")
                   .found());
  EXPECT_EQ(PyDict_Size(session_.interpreter.names()), size_before);
  EXPECT_FALSE(PyErr_Occurred());
  for (const auto& [name, list] : session_.interpreter.prelude_lists()) {
    EXPECT_EQ(PyList_GET_SIZE(list), 0) << name;
  }
  // The next program starts outside hermetic mode.
  EXPECT_FALSE(verdict_of("t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"
                          "s1 = t0.untyped_storage()\n")
                   .found());
}

TEST_F(RunTest, a_line_that_raises_does_not_end_the_program) {
  EXPECT_FALSE(verdict_of("del s0\ns0[100]\nt0 = T.ones(1)\n").found());
  EXPECT_FALSE(PyErr_Occurred());
}

TEST_F(RunTest, an_assertion_with_words_is_an_answer_unless_the_prelude_says_it) {
  PyObject* names = session_.interpreter.names();
  const Ref former = Ref::borrow(session_.interpreter.find("check_wraps"));
  const auto found_when = [&](const std::string& words) {
    const Ref code(Py_CompileString(("def check_wraps(t): assert False" + words).c_str(), "weak.py",
                                    Py_file_input));
    const Ref defined(PyEval_EvalCode(code.get(), names, names));
    EXPECT_TRUE(defined);
    const bool found = verdict_of("t0 = T.ones(1)\ncheck_wraps(t0)\n").found();
    EXPECT_EQ(verdict_of("t0 = T.ones(1)\nlane(1, \"check_wraps(t0)\")\n").found(), found);
    return found;
  };
  EXPECT_FALSE(found_when(", 'expected a Tensor, got None'"));
  EXPECT_FALSE(found_when(", 'device: expected a Tensor'"));
  EXPECT_TRUE(found_when(""));
  EXPECT_TRUE(found_when(", 'P7: planted'"));
  EXPECT_TRUE(found_when(", 'memory: bytes of freed memory'"));
  PyDict_SetItemString(names, "check_wraps", former.get());
}

TEST_F(RunTest, a_check_that_ends_by_another_error_than_it_may_is_a_finding) {
  PyObject* names = session_.interpreter.names();
  const auto found_when = [&](const std::string& check, const std::string& raised,
                              const std::string& line) {
    const Ref former = Ref::borrow(session_.interpreter.find(check.c_str()));
    const std::string text = "def " + check + "(*given): raise " + raised + "('planted')";
    const Ref defined(PyRun_String(text.c_str(), Py_file_input, names, names));
    EXPECT_TRUE(defined);
    const bool found = verdict_of("t0 = T.ones(1)\n" + line + "\n").found();
    PyDict_SetItemString(names, check.c_str(), former.get());
    return found;
  };
  for (const char* error : {"TypeError", "AttributeError", "UnboundLocalError", "KeyError"}) {
    EXPECT_TRUE(found_when("check_wraps", error, "check_wraps(t0)")) << error;
  }
  // The core may refuse an operand, but not what a `certain` row makes itself.
  EXPECT_FALSE(found_when("check_wraps", "RuntimeError", "check_wraps(t0)"));
  EXPECT_FALSE(found_when("check_wraps", "ValueError", "check_wraps(t0)"));
  const char* const scopes = "check_scopes('nothing', 'nothing', 'nothing')";
  EXPECT_FALSE(verdict_of(std::string(scopes) + "\n").found());
  EXPECT_TRUE(found_when("check_scopes", "RuntimeError", scopes));
  EXPECT_TRUE(found_when("check_scopes", "ValueError", scopes));
}

TEST_F(RunTest, a_line_that_checks_says_which_kind_is_not_kept) {
  PyObject* names = session_.interpreter.names();
  const Ref former = Ref::borrow(PyDict_GetItemString(names, "check_aliases"));
  const Ref planted(PyRun_String("def check_aliases(t): assert False, 'P1: planted'", Py_file_input,
                                 names, names));
  EXPECT_TRUE(planted);
  const Verdict verdict = verdict_of("t0 = T.ones(1)\ncheck_aliases(t0)\n");
  EXPECT_EQ(verdict.contract + ' ' + verdict.object, "P1 tensor");
  EXPECT_TRUE(verdict.implies.words().empty());
  PyDict_SetItemString(names, "check_aliases", former.get());
}

TEST_F(RunTest, cycles_through_cpp_owners_are_no_leak) {
  // Each of these lives on by the contract (P5), alone and one after the other.
  for (const char* text : {
           "t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.owner = t0\ns0.me = s0\n",
           "t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\nt1.grad = t0\n",
           "enter_hermetic()\nt0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\nt1.grad = t0\n",
           "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"
           "with hermetic(): s1 = t0.untyped_storage()\ns0.other = s1\n",
       }) {
    EXPECT_FALSE(verdict_of(text).found()) << text << session_.judge.verdict().describe();
  }
}

TEST_F(RunTest, the_exemption_of_resurrection_holds_for_the_collector_alone) {
  // In a dead cycle the collector may finalize a wrapper that C++ owns, and clear its weakrefs.
  EXPECT_FALSE(verdict_of("s0 = Finalized(1)\nt0 = T.empty(0, dtype=T.uint8).set_(s0)\n"
                          "r0 = weakref.ref(s0)\nl0 = [s0]\nl0.append(l0)\ndel s0\ndel l0\n"
                          "gc.collect()\n")
                   .found());
}

TEST_F(RunTest, masked_lines_are_dropped_and_counted) {
  Program program = session_.printer.parse("t0 = T.ones(1)\ns0 = t0._storage()\n");
  session_.mask(program);
  EXPECT_EQ(program.lines.size(), 1u);
  EXPECT_EQ(program.dropped, 1u);
}

TEST_F(RunTest, the_reset_can_be_said_in_python) {
  verdict_of("t0 = T.ones(1)\ns0 = Resurrecting(1)\nenter_hermetic()\n");
  const std::vector<std::string> expected = {"exit_hermetic()", "del s0, t0", "resurrected.clear()",
                                             "gc.collect()", "gc.collect()"};
  EXPECT_EQ(session_.executor.reset_as_lines(), expected);
}

TEST_F(RunTest, the_layout_is_found) {
  const Layout& layout = session_.layout;
  const Ref tensor = session_.interpreter.evaluate("T.ones(1)");
  const Ref storage(PyObject_CallMethod(tensor.get(), "untyped_storage", nullptr));
  const Ref grad = session_.interpreter.evaluate("T.ones(1)");
  ASSERT_EQ(PyObject_SetAttrString(tensor.get(), "grad", grad.get()), 0);
  const ImplKind& of_tensors = layout.kind_named("tensor");
  const ImplKind& of_storages = layout.kind_named("storage");
  const auto owned = [&](const char* edge) {
    return layout.owned(layout.impl_of(tensor.get(), of_tensors), of_tensors,
                        *of_tensors.edge_named(edge));
  };
  const void* storage_impl = layout.impl_of(storage.get(), of_storages);
  EXPECT_EQ(owned("storage"), storage_impl);
  EXPECT_EQ(owned("grad"), layout.impl_of(grad.get(), of_tensors));
  EXPECT_EQ(owned("base"), nullptr);
  EXPECT_EQ(layout.use_count_of(storage_impl, of_storages), 2u);
  EXPECT_EQ(layout.use_count_of(owned("grad"), of_tensors), 2u);
  EXPECT_EQ(layout.kind_of(tensor.get()), &of_tensors);
  EXPECT_EQ(layout.kind_of(Py_None), nullptr);
}

}  // namespace
}  // namespace slotfuzz
