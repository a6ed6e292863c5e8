// Finds addresses in the text of values.

#include "harness/interleave/command/symbols.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace slotfuzz::interleave {

namespace {

// User space: 0x5020_0000_0000 under AddressSanitizer to 0x7fff_ffff_ffff. Counts are smaller, or
// have the topmost bit set.
constexpr size_t kAddressDigits = 12;

std::string numbered(const std::string& digits, std::vector<std::string>* known) {
  std::string address = digits;
  // Objects have even addresses: an odd last digit is the even digit before it plus the owns bit.
  const bool owns = std::string_view("13579bdf").find(address.back()) != std::string_view::npos;
  if (owns) --address.back();
  auto found = std::find(known->begin(), known->end(), address);
  if (found == known->end()) found = known->insert(found, address);
  return "#" + std::to_string(found - known->begin() + 1) + (owns ? " owned" : "");
}

}  // namespace

void number_addresses(std::vector<TraceRow>* rows) {
  std::vector<std::string> known;
  for (TraceRow& row : *rows) {
    std::string text;
    for (size_t at = 0; at < row.value.size();) {
      size_t end = at + 2;
      if (row.value.compare(at, 2, "0x") == 0) {
        while (end < row.value.size() && std::isxdigit(row.value[end])) ++end;
      }
      if (end - at == kAddressDigits + 2) {
        text += numbered(row.value.substr(at + 2, kAddressDigits), &known);
        at = end;
      } else {
        text += row.value[at++];
      }
    }
    row.value = text;
  }
}

}  // namespace slotfuzz::interleave
