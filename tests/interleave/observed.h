// A program without outcomes of its own, for the naive search.
#pragma once

#include "harness/interleave/explore/naive.h"

namespace slotfuzz::interleave {

class Observed final : public ObservedProgram {
 public:
  explicit Observed(Program& program) : program_(program) {}
  int threads() const override { return program_.threads(); }
  void set_up() override { program_.set_up(); }
  void run(int thread) override { program_.run(thread); }
  void finish() override { program_.finish(); }
  void tear_down() override { program_.tear_down(); }
  uint64_t outcome() const override { return 0; }

 private:
  Program& program_;
};

}  // namespace slotfuzz::interleave
