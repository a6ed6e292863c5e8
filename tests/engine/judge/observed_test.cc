// The judge's observations after each line, from which the ownership timeline is drawn.
#include <gtest/gtest.h>

#include <regex>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

// Keeps the judge's observations after each line, with `*` for each address.
class Observer final : public Watcher {
 public:
  explicit Observer(Judge& judge) : judge_(judge) {}
  void start(const Program& program) override { judge_.start(program); }
  void before_line(std::size_t index, const Line& line) override {
    judge_.before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    judge_.after_line(index, line, raised);
    seen.push_back(std::regex_replace(judge_.observed(), std::regex("0x[0-9a-f]+"), "*"));
  }
  void after_drop() override {
    judge_.after_drop();
    seen.push_back(judge_.observed());
  }

  std::vector<std::string> seen;

 private:
  Judge& judge_;
};

std::vector<std::string> observed_in(std::string_view text) {
  Session& session = test_session();
  Observer observer(session.judge);
  session.executor.run(session.printer.parse(text), observer);
  return observer.seen;
}

std::string observed(int references, int owners, const std::string& holders,
                     const std::string& names, const std::string& rest = "") {
  return "    observed  impl *  wrapper *  references " + std::to_string(references) + "  owners " +
         std::to_string(owners) + "  held by" + holders + "  names" + names + "  weak" + rest +
         "\n";
}

TEST(ObservedTest, references_of_lists_count_and_names_are_reported) {
  const std::string tensor = observed(1, 1, "", " t0");
  const std::vector<std::string> expected = {
      tensor,
      tensor + observed(2, 2, " t0", " s0"),
      tensor + observed(3, 2, " t0", " s0"),
      tensor + observed(2, 2, " t0", ""),
      tensor + observed(1, 2, " t0", ""),
      "",
  };
  EXPECT_EQ(observed_in("t0 = T.ones(1)\ns0 = t0.untyped_storage()\nl0 = [s0]\ndel s0\ndel l0\n"),
            expected);
}

TEST(ObservedTest, owners_in_cpp_and_grads_hold) {
  const auto seen = observed_in(
      "s0 = T.UntypedStorage(1)\nx0 = Owner(s0)\nt0 = T.ones(1)\n"
      "t1 = T.ones(1)\nt0.grad = t1\n");
  EXPECT_EQ(seen[1], observed(2, 2, " x0", " s0"));
  EXPECT_EQ(seen[4], seen[1] + observed(1, 1, "", " t0") + observed(2, 2, " t0", " t1"));
}

TEST(ObservedTest, weak_references_and_serials_are_reported) {
  const auto seen = observed_in("s0 = Finalized(1)\nr0 = weakref.ref(s0)\n");
  EXPECT_EQ(seen[1], observed(1, 1, "", " s0", " r0  serial 0"));
}

TEST(ObservedTest, without_a_variable_nothing_is_observed) {
  EXPECT_EQ(observed_in("s0 = T.UntypedStorage(1)\ndel s0\n")[1], "");
}

}  // namespace
}  // namespace slotfuzz
