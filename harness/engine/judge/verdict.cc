// A verdict as text.
#include "harness/engine/judge/verdict.h"

namespace slotfuzz {

std::string Verdict::describe() const {
  std::string text = "slotfuzz: " + contract + ' ' + check + ": " + message + "\n";
  for (const std::string& assertion : asserts) text += "    " + assertion + "\n";
  return text;
}

}  // namespace slotfuzz
