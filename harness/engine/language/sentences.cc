// The rows of sentences.h, in the order of docs/contract.md; a test holds them to that page.
#include "harness/engine/language/sentences.h"

#include <algorithm>

namespace slotfuzz {
namespace {

constexpr bool kKeeps = true;

// clang-format off
constexpr Sentence kSentences[] = {
    {"P1", kKeeps}, {"P2", kKeeps}, {"P3"}, {"P4", kKeeps}, {"P5"}, {"P6"}, {"P7"}, {"P8"}, {"P9"},
    {"H1"}, {"H2"}, {"H3"}, {"H4"},
    {"T1"}, {"T2"}, {"T3"}, {"T4"}, {"T5"}, {"T6"}, {"T7"}, {"T8"},
    {"A1"}, {"A1a"}, {"A1b"}, {"A1c"}, {"A2"}, {"A2a"}, {"A2b"}, {"A2c"}, {"A2d"}, {"A2e"},
    {"A3"}, {"A3a"}, {"A3b"}, {"A3c"}, {"A3d"}, {"A3e"}, {"A3f"}, {"A3g"}, {"A4"}, {"A4a"},
    {"A4b"}, {"A5"}, {"A5a"}, {"A5b"}, {"A5c"}, {"A5d"}, {"A5e"}, {"A6"}, {"A7"}, {"A7a"}, {"A8"},
    {"A9"}, {"A10"},
    {"M1"}, {"M2"}, {"M3"}, {"M4"}, {"M5"}, {"M6"}, {"M7"}, {"M8"}, {"M9"}, {"M10"}, {"M11"},
    {"M12"}, {"M13"}, {"M14"}, {"M15"}, {"M16"}, {"M17"}, {"M18"},
    {"R1"}, {"R2"},
};
// clang-format on

constexpr std::string_view kAfterNumber = ": ";

}  // namespace

std::span<const Sentence> sentences() { return kSentences; }

const Sentence* find_sentence(std::string_view number) {
  const auto found = std::ranges::find(kSentences, number, &Sentence::number);
  return found == std::end(kSentences) ? nullptr : found;
}

const Sentence* sentence_of_message(std::string_view message) {
  const std::size_t end = message.find(kAfterNumber);
  return end == std::string_view::npos ? nullptr : find_sentence(message.substr(0, end));
}

}  // namespace slotfuzz
