// A verdict as text.
#include "harness/engine/judge/verdict.h"

namespace slotfuzz {

std::string Verdict::describe() const {
  const char* space = contract.empty() ? "" : " ";
  std::string text = "slotfuzz: " + contract + space + check + ": " + message + "\n";
  for (const std::string& assertion : asserts) text += "    " + assertion + "\n";
  return text;
}

}  // namespace slotfuzz
