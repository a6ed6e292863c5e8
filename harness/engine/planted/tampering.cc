// Parses a program with tampering, and runs it.
#include "harness/engine/planted/tampering.h"

#include "harness/engine/check.h"

namespace slotfuzz {

Tampering::Tampering(std::string_view text, Printer& printer, Interpreter& interpreter,
                     Judge& judge, std::function<void(const Verdict&)> found)
    : interpreter_(interpreter), judge_(judge), found_(std::move(found)) {
  before_.emplace_back();
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with('!')) {
      before_.back().emplace_back(line.substr(1));
      continue;
    }
    const auto parsed = printer.table().parse(line);
    CHECK(parsed, "tampering: no template: " << line);
    program_.lines.push_back(*parsed);
    before_.emplace_back();
  }
}

void Tampering::before_line(std::size_t index, const Line& line) {
  tamper(index);
  judge_.before_line(index, line);
}

void Tampering::after_line(std::size_t index, const Line& line, PyObject* raised) {
  judge_.after_line(index, line, raised);
  if (judge_.verdict().found()) found_(judge_.verdict());
  if (index + 1 == program_.lines.size()) tamper(index + 1);
}

void Tampering::tamper(std::size_t index) {
  for (const std::string& code : before_[index]) {
    const Ref result(
        PyRun_String(code.c_str(), Py_file_input, interpreter_.names(), interpreter_.names()));
    CHECK(result, "tampering: " << code << ": " << take_error());
  }
}

}  // namespace slotfuzz
