// Other interpreters of the process, in programs on the fixed core.
#include <gtest/gtest.h>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

class InterpreterTest : public ::testing::Test {
 protected:
  const Verdict& verdict_of(std::string_view text) {
    session_.run(session_.printer.parse(text));
    return session_.judge.verdict();
  }
  long interpreters() {
    const Ref all = session_.interpreter.evaluate("len(interpreters.list_all())");
    return all ? PyLong_AsLong(all.get()) : -1;
  }

  Session& session_ = test_session();
};

TEST_F(InterpreterTest, the_reset_ends_what_a_program_left_running) {
  ASSERT_EQ(interpreters(), 1);
  for (const char* text :
       {"o0 = Other()\no0.make()\n", "o0 = Other()\no1 = Other()\no0 = Other()\n",
        "lane(1, \"o0 = Other()\")\nlane(2, \"o0.make()\")\n"}) {
    EXPECT_FALSE(verdict_of(text).found()) << session_.judge.verdict().describe();
    EXPECT_EQ(interpreters(), 1) << text;
  }
}

TEST_F(InterpreterTest, what_is_asked_of_an_ended_interpreter_is_an_error) {
  EXPECT_FALSE(verdict_of("o0 = Other()\no0.end()\no0.end()\no0.make()\n").found());
  EXPECT_FALSE(PyErr_Occurred());
}

// The prelude simulates a core that breaks T2: the judge must report an assertion that fails there.
TEST_F(InterpreterTest, an_expectation_that_fails_there_is_a_verdict_here) {
  PyObject* names = session_.interpreter.names();
  const auto python = [&](const char* code) {
    const Ref done(PyRun_String(code, Py_file_input, names, names));
    ASSERT_TRUE(done) << take_error();
  };
  python(
      "begins = other_begins\n"
      "other_begins += \"def keep(): assert 0, 'P2: planted'\\n\"\n");
  const Verdict verdict = verdict_of("o0 = Other()\no0.keep()\n");
  python("other_begins = begins\ndel begins\n");
  EXPECT_EQ(verdict.kind, "exception");
  EXPECT_EQ(verdict.contract, "P2");
  EXPECT_EQ(verdict.check, "other_keep");
  EXPECT_FALSE(verdict_of("o0 = Other()\no0.make()\no0.keep()\n").found());
}

TEST_F(InterpreterTest, only_targets_that_ask_for_threads_have_their_ops) {
  const auto quick =
      unmasked(session_.interpreter.masked_ops(session_.table, {.storage = 1, .tensor = 1}));
  EXPECT_EQ(without_slow(session_, quick), quick_ops(session_));
  EXPECT_NE(quick, session_.available);
}

TEST_F(InterpreterTest, to_try_what_the_subject_can_do_leaves_no_trace) {
  PyObject* names = session_.interpreter.names();
  const auto python = [&](const char* code) {
    const Ref done(PyRun_String(code, Py_file_input, names, names));
    ASSERT_TRUE(done) << take_error();
  };
  // Classes with a finalizer record each object.
  const auto made = [&] { return PyList_GET_SIZE(session_.interpreter.find("born")); };
  ASSERT_EQ(made(), 0);
  const Weights weights = {.storage = 1, .tensor = 1};
  const auto before = unmasked(session_.interpreter.masked_ops(session_.table, weights));
  EXPECT_EQ(without_slow(session_, before), quick_ops(session_));
  EXPECT_EQ(made(), 0);
  const Ref tried = session_.interpreter.evaluate("Other.tried");
  EXPECT_STREQ(PyUnicode_AsUTF8(tried.get()), "") << "no interpreter was started";
  // An op whose probe ends the process is masked, and no other op is.
  python("probed, TensorFinalized = TensorFinalized, lambda size: __import__('os')._exit(1)");
  const auto why = session_.interpreter.masked_ops(session_.table, weights);
  const auto without = unmasked(why);
  python("TensorFinalized = probed\ndel probed");
  std::size_t masked = 0;
  for (std::size_t op = 0; op < without.size(); ++op) {
    const bool needs_it =
        session_.table.ops()[op].needs.find("TensorFinalized(1)") != std::string::npos;
    EXPECT_EQ(without[op], before[op] && !needs_it) << session_.table.ops()[op].name;
    if (needs_it && before[op]) EXPECT_EQ(why[op], "the process that tried it died");
    masked += needs_it;
  }
  EXPECT_GT(masked, 0u);
}

TEST_F(InterpreterTest, a_probe_that_raises_masks_an_op_and_says_why) {
  const Weights weights = {.storage = 1, .tensor = 1};
  PyObject* names = session_.interpreter.names();
  const Ref simple = Ref(Py_NewRef(session_.interpreter.find("simple")));
  const Ref broken(PyRun_String("def simple(tensor): raise ValueError('broken')\n"
                                "probed, TensorSub = TensorSub, simple",
                                Py_file_input, names, names));
  ASSERT_TRUE(broken) << take_error();
  const auto why = session_.interpreter.masked_ops(session_.table, weights);
  const Ref mended(PyRun_String("TensorSub = probed\ndel probed", Py_file_input, names, names));
  ASSERT_TRUE(mended) << take_error();
  ASSERT_EQ(PyDict_SetItemString(names, "simple", simple.get()), 0);
  std::size_t certain = 0;
  for (std::size_t op = 0; op < why.size(); ++op) {
    const Op& row = session_.table.ops()[op];
    if (row.name == "new_tensor_sub") EXPECT_EQ(why[op], "ValueError: broken");
    // Whatever a bug lets a probe raise, slotcore has what a row calls certain.
    if (!row.certain || weights.of(row.theme) == 0) continue;
    EXPECT_EQ(why[op], "") << row.name;
    ++certain;
  }
  EXPECT_GT(certain, 5u);
}

}  // namespace
}  // namespace slotfuzz
