// A program with Python between its lines that the judge does not observe: it breaks a promise.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/judge/judge.h"

namespace slotfuzz {

class Tampering final : public Watcher {
 public:
  // TEXT has the lines of the program. A '!' line is Python that runs before the next program line,
  // or after the last. FOUND is called with the verdict, after the line that led to it.
  Tampering(std::string_view text, Printer& printer, Interpreter& interpreter, Judge& judge,
            std::function<void(const Verdict&)> found);

  const Program& program() const { return program_; }
  void start(const Program& program) override { judge_.start(program); }
  void before_line(std::size_t index, const Line& line) override;
  void after_line(std::size_t index, const Line& line, PyObject* raised) override;
  void after_drop() override { judge_.after_drop(); }

 private:
  void tamper(std::size_t index);

  Program program_;
  std::vector<std::vector<std::string>> before_;
  Interpreter& interpreter_;
  Judge& judge_;
  const std::function<void(const Verdict&)> found_;
};

}  // namespace slotfuzz
