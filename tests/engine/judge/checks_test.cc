// The checks: verdicts on programs, and errors to which no program on a correct subject leads.
#include "harness/engine/judge/checks.h"

#include <gtest/gtest.h>

#include "harness/engine/check.h"
#include "tests/engine/judge/tampered.h"

namespace slotfuzz {
namespace {

struct Judged {
  const char* text;
  const char* expected;
};

// The judge does not observe lines that begin with '!'.
constexpr Judged kPrograms[] = {
    {"t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.tag = 7\ndel s0\n"
     "s1 = t0.untyped_storage()\n",
     "clean"},
    // The judge keeps no record of a wrapper that was created in hermetic mode.
    {"t0 = T.ones(1)\nwith hermetic(): s0 = t0.untyped_storage()\ns0.tag = 7\n!del s0.tag\n"
     "s1 = s0\n",
     "clean"},
    // Without a witness of the impl, another impl may get its address.
    {"s0 = Finalized(1)\nt0 = T.ones(1)\nt0.set_(s0)\ndel s0\ndel t0\ngc.collect()\n", "clean"},
    {"s0 = Finalized(1)\nt0 = T.ones(1)\nt0.set_(s0)\ndel s0\n!finalized.append(0)\n"
     "gc.collect()\n",
     "P3 finalized early (storage)"},
    {"t0 = TensorFinalized(1)\n!finalized.append(0)\ngc.collect()\n",
     "P3 tensor finalized early (tensor)"},
    // One run is early and another is a repetition: the verdict is on the first one.
    {"s0 = Finalized(1)\n!finalized += [0, 0]\ns0.nbytes()\n", "P3 finalized early (storage)"},
    {"t0 = TensorFinalized(1)\ndel t0\n!finalized.append(0)\ngc.collect()\n",
     "P3 tensor finalized twice (tensor)"},
    {"t0 = T.ones(1)\nr0 = weakref.ref(t0)\n"
     "!import ctypes; ctypes.pythonapi._PyWeakref_ClearRef(ctypes.py_object(r0))\ngc.collect()\n",
     "P4 tensor weakref (tensor)"},
    {"t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\n"
     "!import ctypes; ctypes.c_uint32.from_address(t1._cdata + 8).value = 0\nt1.zero_()\n",
     "P7 tensor use count (tensor)"},
    {"enter_hermetic()\nexit_hermetic()\nexit_hermetic()\n", "clean"},
    // Whatever a line that must return raises is a finding, also without the number of a promise.
    {"t0 = T.ones(1)\n"
     "!check_freed = lambda _: (None for _ in ()).throw(AssertionError('two is not one'))\n"
     "check_freed(t0)\n",
     " check_freed ()"},
};

TEST(ChecksTest, programs_have_the_verdicts_that_stand_beside_them) {
  for (const auto& [text, expected] : kPrograms) {
    EXPECT_EQ(reported_of(text, test_session().judge), expected) << text;
  }
}

TEST(ChecksTest, the_exemption_is_for_resurrection_and_for_the_collector) {
  const auto reported_under = [](const char* protocol, const char* line) {
    return reported_by_child([&](int pipe) {
      Session& session = test_session();
      const std::string code = std::string("T._preservation = '") + protocol + "'";
      PyObject* names = session.interpreter.names();
      CHECK(Ref(PyRun_String(code.c_str(), Py_file_input, names, names)), take_error());
      static std::uint8_t states[kStateCounters];
      Judge judge(session.interpreter, session.executor, session.table, session.layout, states);
      const std::string words =
          reported_of(std::string("s0 = Finalized(1)\nx0 = Owner(s0)\nx1 = Owner(s0)\ndel s0\n"
                              "!finalized.append(0)\n") +
                      line + "\n!finalized.clear()",
                  judge);
      if (write(pipe, words.data(), words.size()) < 0) std::abort();
    });
  };
  EXPECT_EQ(reported_under("refcount_bit", "gc.collect()"), "P3 finalized early (storage)");
  EXPECT_EQ(reported_under("resurrection", "gc.collect()"), "clean");
  EXPECT_EQ(reported_under("resurrection", "x0.use_count()"), "P3 finalized early (storage)");
}

class ChecksOfTheEndTest : public ::testing::Test {
 protected:
  const Verdict& verdict_on(const Ledger::Result& result) {
    checks_.start();
    checks_.run(Stage::kLedger, {.ledger = &ledger_, .result = &result});
    return checks_.verdict();
  }

  Session& session_ = test_session();
  Capabilities capabilities_{session_.interpreter, session_.layout};
  Tracker tracker_{session_.interpreter, session_.executor, session_.table, session_.layout};
  Ledger ledger_{session_.interpreter, session_.layout, capabilities_, tracker_.attribute_names()};
  Checks checks_{session_.interpreter, session_.executor, session_.table,
                 session_.layout,      capabilities_,     tracker_};
};

TEST_F(ChecksOfTheEndTest, an_even_or_excused_ledger_is_no_finding) {
  EXPECT_FALSE(verdict_on({.balance = Ledger::Balance::kEven}).found());
  EXPECT_FALSE(verdict_on({.balance = Ledger::Balance::kExcused, .left = 3}).found());
}

TEST_F(ChecksOfTheEndTest, what_is_left_is_reported_by_its_count) {
  const Verdict& verdict = verdict_on({.balance = Ledger::Balance::kUneven, .count = 1, .left = 2});
  EXPECT_EQ(verdict.kind, "assert");
  EXPECT_EQ(verdict.describe().substr(0, 51),
            "slotfuzz: P5 live wrappers: 2 wrappers live on\n    ");
  EXPECT_EQ(verdict.asserts.back(), "assert T._live_wrappers() == 0");
}

TEST_F(ChecksOfTheEndTest, a_count_that_fails_is_an_exception) {
  const Verdict& verdict =
      verdict_on({.balance = Ledger::Balance::kUnknown, .error = "TypeError: no number"});
  EXPECT_EQ(verdict.kind, "exception");
  EXPECT_EQ(verdict.contract + ' ' + verdict.check + ": " + verdict.message,
            "P5 live counts: TypeError: no number");
  EXPECT_EQ(verdict.asserts.back(), "0 + T._live_impls()");
}

TEST_F(ChecksOfTheEndTest, the_first_verdict_stands) {
  Ledger::Result result{.balance = Ledger::Balance::kUneven, .left = 1};
  result.collect_error = "ValueError: planted";
  EXPECT_EQ(verdict_on(result).check, "gc.collect");
  EXPECT_EQ(verdict_on(result).message, "ValueError: planted");
  EXPECT_EQ(verdict_on(result).contract, "");
}

}  // namespace
}  // namespace slotfuzz
