// Parses the markers of snippets.h.
#include "harness/engine/language/snippets.h"

#include <algorithm>

#include "harness/engine/check.h"

namespace slotfuzz {
namespace {

// A literal for each file: C++ compilers need not take one that is longer than 65,536 bytes.
constexpr const char* kPrelude[] = {
#include "prelude.inc"
};
constexpr std::string_view kMarker = "#: ";
constexpr std::string_view kEffects = "#> ";

std::string_view trimmed(std::string_view text, char what) {
  while (text.starts_with(what)) text.remove_prefix(1);
  while (text.ends_with(what)) text.remove_suffix(1);
  return text;
}

// Calls DO with each part of TEXT between two separators, without surrounding spaces.
template <typename Do>
void for_each_part(std::string_view text, char separator, const Do& act) {
  while (!text.empty()) {
    const auto end = text.find(separator);
    if (const auto part = trimmed(text.substr(0, end), ' '); !part.empty()) act(part);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// `Resurrecting: finalizes resurrects`
void read_effects(std::string_view line, Snippet& snippet) {
  const auto colon = line.find(": ");
  const auto name = std::find_if(snippet.names.begin(), snippet.names.end(), [&](const auto& one) {
    return one.name == line.substr(0, colon);
  });
  CHECK(colon != std::string_view::npos && name != snippet.names.end(),
        "prelude: effects of no name of the snippet: " << line);
  for_each_part(line.substr(colon + 2), ' ', [&](std::string_view word) {
    const auto effect = effect_named(word);
    CHECK(effect, "prelude: unknown effect " << word << " in " << line);
    name->effects.add(*effect);
  });
}

Snippet read_marker(std::string_view line) {
  const auto colon = line.find(": ");
  CHECK(colon != std::string_view::npos, "prelude: a marker without a sentence: " << line);
  std::string_view head = line.substr(0, colon);
  Snippet snippet;
  snippet.sentence = line.substr(colon + 2);
  if (const auto open = head.find(" ["); open != std::string_view::npos) {
    CHECK(head.ends_with(']'), "prelude: a bracket is open in " << line);
    std::string_view words = head.substr(open + 2, head.size() - open - 3);
    if (const auto space = words.find(' '); space != std::string_view::npos) {
      snippet.theme = theme_named(words.substr(space + 1));
      CHECK(snippet.theme, "prelude: unknown theme in " << line);
      words = words.substr(0, space);
    }
    snippet.module = words;
    head = head.substr(0, open);
  }
  for_each_part(head, ',', [&](std::string_view name) {
    snippet.names.push_back({std::string(name), {}});
  });
  return snippet;
}

}  // namespace

std::vector<Snippet> read_snippets(std::string_view text) {
  std::vector<Snippet> snippets;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(kMarker)) {
      snippets.push_back(read_marker(line.substr(kMarker.size())));
    } else if (!snippets.empty() && line.starts_with(kEffects)) {
      read_effects(line.substr(kEffects.size()), snippets.back());
    } else if (!snippets.empty()) {
      Snippet& snippet = snippets.back();
      if (!snippet.text.empty() || !line.empty()) snippet.text.append(line).push_back('\n');
    }
  }
  for (Snippet& snippet : snippets) snippet.text = trimmed(snippet.text, '\n');
  return snippets;
}

std::vector<Snippet> prelude_snippets() {
  std::string text;
  for (const char* file : kPrelude) text += file;
  return read_snippets(text);
}

}  // namespace slotfuzz
