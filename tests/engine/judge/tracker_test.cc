// The tracker alone: its records after a program; it reports no verdict.
#include "harness/engine/judge/tracker.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/engine/session_fixture.h"

namespace slotfuzz {
namespace {

class TrackerTest : public ::testing::Test {
 protected:
  // Calls LOOK after the last line of the program.
  void after(std::string_view text, const std::function<void()>& look) {
    const Program program = session_.printer.parse(text);
    ASSERT_EQ(program.dropped, 0u) << text;
    Following following(tracker_, look);
    session_.executor.run(program, following);
    ASSERT_TRUE(following.has_looked) << text;
  }
  // The kinds of the impls that are certain to live, in the order of their first observation.
  std::string lives_after(std::string_view text) {
    std::string names;
    after(text, [&] {
      for (const Life& life : tracker_.lives()) {
        names.append(names.empty() ? "" : " ").append(life.kind->name());
      }
    });
    return names;
  }
  const Binding& binding(const char* name) {
    return tracker_.binding(*session_.table.find_variable(name));
  }

  Session& session_ = test_session();
  Tracker tracker_{session_.interpreter, session_.executor, session_.table, session_.layout};

 private:
  class Following final : public Watcher {
   public:
    Following(Tracker& tracker, const std::function<void()>& look)
        : tracker_(tracker), look_(look) {}
    void start(const Program& program) override { tracker_.start(program); }
    void before_line(std::size_t index, const Line& line) override {
      tracker_.before_line(index, line);
    }
    void after_line(std::size_t index, const Line& line, PyObject* raised) override {
      tracker_.after_line(line, raised != nullptr);
      if (index + 1 < tracker_.line_count()) return;
      look_();
      has_looked = true;
    }
    void after_drop() override { tracker_.drop_all(); }

    bool has_looked = false;

   private:
    Tracker& tracker_;
    const std::function<void()>& look_;
  };
};

TEST_F(TrackerTest, an_impl_lives_while_a_variable_witnesses_it) {
  EXPECT_EQ(lives_after("t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"), "tensor storage");
  EXPECT_EQ(lives_after("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ndel s0\n"), "tensor storage");
  EXPECT_EQ(lives_after("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ndel t0\n"), "storage");
  EXPECT_EQ(lives_after("t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\ndel t1\n"), "tensor tensor");
  EXPECT_EQ(lives_after("t0 = T.ones(1)\nt1 = t0.view(-1)\ndel t0\n"), "tensor tensor");
  EXPECT_EQ(lives_after("s0 = T.UntypedStorage(1)\nx0 = Owner(s0)\ndel s0\n"), "storage");
  EXPECT_EQ(lives_after("s0 = T.UntypedStorage(1)\nx0 = Owner(s0)\ndel s0\nx0.drop()\n"), "");
  EXPECT_EQ(lives_after("t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\ndel t1\nt0.grad = None\n"),
            "tensor");
}

TEST_F(TrackerTest, a_wrapper_of_hermetic_mode_is_no_life) {
  after("t0 = T.ones(1)\nwith hermetic(): s0 = t0.untyped_storage()\n", [&] {
    EXPECT_EQ(tracker_.lives().size(), 1u);
    EXPECT_EQ(binding("s0").mode, Mode::kHermetic);
    EXPECT_EQ(tracker_.seen().asked_in_hermetic, session_.table.find_variable("s0"));
    EXPECT_FALSE(tracker_.seen().met_again);
  });
}

TEST_F(TrackerTest, a_line_that_raises_at_its_end_has_bound_its_variable) {
  const std::string line =
      "with T.autograd.graph.saved_tensors_hooks(*pair('ends')): t1 = t0 * t0\n";
  after("t0 = T.ones(1).requires_grad_()\n" + line + line, [&] {
    EXPECT_EQ(binding("t1").object,
              session_.executor.value_of(*session_.table.find_variable("t1")));
    EXPECT_NE(binding("t1").impl, nullptr);
  });
}

TEST_F(TrackerTest, what_is_seen_again_is_reported_with_what_was_known_before) {
  after("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.tag = 7\ns1 = t0.untyped_storage()\n", [&] {
    ASSERT_EQ(tracker_.seen().met_again, session_.table.find_variable("s1"));
    EXPECT_EQ(tracker_.seen().before.wrapper, binding("s0").object);
    EXPECT_EQ(std::popcount(tracker_.seen().before.attributes), 1);
  });
}

TEST_F(TrackerTest, owners_are_counted_once_under_however_many_names) {
  after("t0 = T.ones(1)\ns0 = t0.untyped_storage()\nt1 = t0\nx0 = Owner(s0)\n",
        [&] { EXPECT_EQ(tracker_.owners_of(binding("s0").impl), 2u); });
}

TEST_F(TrackerTest, finalizers_are_counted_by_serial_and_kind) {
  after("s0 = Finalized(1)\nt0 = TensorFinalized(1)\ndel t0\n", [&] {
    ASSERT_EQ(tracker_.seen().finalizer_runs.size(), 1u);
    EXPECT_EQ(tracker_.seen().finalizer_runs[0].serial, 1);
    EXPECT_EQ(tracker_.seen().finalizer_runs[0].count, 1);
    EXPECT_EQ(tracker_.finalized_count(0), 0);
    EXPECT_EQ(tracker_.kind_of_serial(0)->name(), "storage");
    EXPECT_EQ(tracker_.kind_of_serial(1)->name(), "tensor");
    EXPECT_EQ(tracker_.kind_of_serial(2), nullptr);
  });
}

TEST_F(TrackerTest, links_of_cpp_close_a_circle) {
  const auto makes_circle = [&](std::string_view text) {
    bool made = false;
    after(text, [&] { made = tracker_.cpp_cycles().any; });
    return made;
  };
  const std::string two = "t0 = T.ones(1)\nt1 = T.ones(1)\nt0.grad = t1\n";
  EXPECT_FALSE(makes_circle(two));
  EXPECT_TRUE(makes_circle(two + "t1.grad = t0\nt1.grad = None\n"));
  EXPECT_TRUE(makes_circle("t0 = T.ones(1)\nt1 = t0.view(-1)\nt0.grad = t1\nt0.grad = None\n"));
}

TEST_F(TrackerTest, modes_are_of_lanes) {
  after("enter_hermetic()\nt0 = T.ones(1)\nlane(1, \"t1 = T.ones(1)\")\n", [&] {
    EXPECT_TRUE(tracker_.is_hermetic(0));
    EXPECT_FALSE(tracker_.is_hermetic(1));
    EXPECT_EQ(binding("t0").mode, Mode::kHermetic);
    EXPECT_EQ(binding("t1").mode, Mode::kNormal);
    EXPECT_EQ(binding("t1").lane, 1);
  });
}

}  // namespace
}  // namespace slotfuzz
