// The judge's observations after each line, from which the ownership timeline is drawn.
#include <gtest/gtest.h>

#include <regex>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

// Keeps the judge's observations after each line, with `*` for each address.
class Sighting final : public Watcher {
 public:
  explicit Sighting(Judge& judge) : judge_(judge) {}
  void start(const Program& program) override { judge_.start(program); }
  void before_line(std::size_t index, const Line& line) override {
    judge_.before_line(index, line);
  }
  void after_line(std::size_t index, const Line& line, PyObject* raised) override {
    judge_.after_line(index, line, raised);
    seen.push_back(std::regex_replace(judge_.in_sight(), std::regex("0x[0-9a-f]+"), "*"));
  }
  void after_drop() override {
    judge_.after_drop();
    seen.push_back(judge_.in_sight());
  }

  std::vector<std::string> seen;

 private:
  Judge& judge_;
};

std::vector<std::string> sights_of(std::string_view text) {
  Session& session = test_session();
  Sighting sighting(session.judge);
  session.executor.run(session.printer.parse(text), sighting);
  return sighting.seen;
}

std::string sight(int references, int owners, const std::string& holders, const std::string& names,
                  const std::string& rest = "") {
  return "    in sight  impl *  wrapper *  references " + std::to_string(references) + "  owners " +
         std::to_string(owners) + "  held by" + holders + "  names" + names + "  weak" + rest +
         "\n";
}

TEST(SightTest, references_of_lists_count_and_names_are_told) {
  const std::string tensor = sight(1, 1, "", " t0");
  const std::vector<std::string> expected = {
      tensor,
      tensor + sight(2, 2, " t0", " s0"),
      tensor + sight(3, 2, " t0", " s0"),
      tensor + sight(2, 2, " t0", ""),
      tensor + sight(1, 2, " t0", ""),
      "",
  };
  EXPECT_EQ(sights_of("t0 = T.ones(1)\ns0 = t0.untyped_storage()\nl0 = [s0]\ndel s0\ndel l0\n"),
            expected);
}

TEST(SightTest, owners_in_cpp_and_grads_hold) {
  const auto seen = sights_of(
      "s0 = T.UntypedStorage(1)\nx0 = Owner(s0)\nt0 = T.ones(1)\n"
      "t1 = T.ones(1)\nt0.grad = t1\n");
  EXPECT_EQ(seen[1], sight(2, 2, " x0", " s0"));
  EXPECT_EQ(seen[4], seen[1] + sight(1, 1, "", " t0") + sight(2, 2, " t0", " t1"));
}

TEST(SightTest, weak_references_and_serials_are_told) {
  const auto seen = sights_of("s0 = Finalized(1)\nr0 = weakref.ref(s0)\n");
  EXPECT_EQ(seen[1], sight(1, 1, "", " s0", " r0  serial 0"));
}

TEST(SightTest, what_nothing_witnesses_is_out_of_sight) {
  EXPECT_EQ(sights_of("s0 = T.UntypedStorage(1)\ndel s0\n")[1], "");
}

}  // namespace
}  // namespace slotfuzz
