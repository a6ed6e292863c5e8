// The snippets of the prelude: the functions that program lines may call, with the effects of each.
//
// A snippet begins with a marker and ends before the next one:
//   #: names: sentence            what it defines
//   #: names [module]: sentence   the same, for one module only
//   #: names [module theme]: ..   only in targets that draw the theme, as what it imports is slow
//   #> name: effects              what calling one of these names does
// Only this file reads markers; `--describe` sends the result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/op.h"

namespace slotfuzz {

struct SnippetName {
  std::string name;
  EffectSet effects;
};

struct Snippet {
  std::vector<SnippetName> names;
  // Empty if the snippet is for every module.
  std::string module;
  // The theme whose lines need it, if only those do.
  std::optional<Theme> theme;
  std::string sentence;
  // The text without markers and without surrounding blank lines.
  std::string text;

  bool is_for(std::string_view one, const Weights& weights) const {
    return (module.empty() || module == one) && (!theme || weights.of(*theme) > 0);
  }
};

// The snippets of TEXT, in order. Text before the first marker is not a snippet. A malformed marker
// fails a CHECK.
std::vector<Snippet> read_snippets(std::string_view text);
// The snippets of the prelude that is compiled into the binary.
std::vector<Snippet> prelude_snippets();

}  // namespace slotfuzz
