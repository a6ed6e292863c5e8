// Asks the subject.
#include "harness/engine/run/capabilities.h"

#include <algorithm>

namespace slotfuzz {
namespace {

bool says_resurrection(const Interpreter& interpreter) {
  const Ref name = interpreter.evaluate("T._preservation");
  return name && PyUnicode_Check(name.get()) &&
         PyUnicode_CompareWithASCIIString(name.get(), "resurrection") == 0;
}

bool counts_all(const Interpreter& interpreter, const Layout& layout) {
  return std::all_of(layout.kinds().begin(), layout.kinds().end(), [&](const ImplKind& kind) {
    return std::all_of(
        kind.row->counts.begin(), kind.row->counts.end(), [&](const LedgerCount& count) {
          return static_cast<bool>(interpreter.evaluate(std::string(count.function)));
        });
  });
}

bool lists_all(const Layout& layout) {
  return std::all_of(layout.kinds().begin(), layout.kinds().end(), [&](const ImplKind& kind) {
    const std::string method(kind.row->owned);
    return !method.empty() &&
           PyObject_HasAttrString(reinterpret_cast<PyObject*>(kind.type), method.c_str()) != 0;
  });
}

}  // namespace

Capabilities::Capabilities(const Interpreter& interpreter, const Layout& layout)
    : resurrects(says_resurrection(interpreter)),
      counts_objects(counts_all(interpreter, layout)),
      lists_owners(counts_objects && lists_all(layout)),
      is_hermetic(interpreter.evaluate("T._is_hermetic")),
      left_behind(interpreter.evaluate("T._left_behind")),
      recording(interpreter.evaluate("recording")),
      recording_at_start(interpreter.evaluate("recording_at_start")) {}

}  // namespace slotfuzz
