// The numbers of the sentences of the contract (docs/contract.md), and what the judge must know of
// a sentence.
#pragma once

#include <span>
#include <string_view>

namespace slotfuzz {

struct Sentence {
  std::string_view number;
  // It promises that something is kept. A mechanism that runs beside the lines breaks it; the
  // lists, closures and attributes that led the mechanism to the object do not matter.
  bool keeps = false;
};

std::span<const Sentence> sentences();

// The sentence with this number, or null.
const Sentence* find_sentence(std::string_view number);

// The sentence that a message of the prelude's assertions begins with, as in "P2: a tensor lost its
// attributes"; null for other messages.
const Sentence* sentence_of_message(std::string_view message);

}  // namespace slotfuzz
