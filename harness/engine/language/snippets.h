// The snippets of the prelude: what program lines may call, each with the effects of calling it.
//
// A snippet begins with a marker and ends before the next one:
//   #: names: sentence            what it defines
//   #: names [module]: sentence   the same, for one module only
//   #> name: effects              what calling one of these names does
// This is the one place that reads markers; `--describe` sends what it has read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/engine/language/effects.h"

namespace slotfuzz {

struct SnippetName {
  std::string name;
  EffectSet effects;
};

struct Snippet {
  std::vector<SnippetName> names;
  // Empty: for every module.
  std::string module;
  std::string sentence;
  // Without the markers, and without blank lines around it.
  std::string text;
  // The number of lines of the prelude before the text.
  std::size_t lines_before = 0;

  bool is_for(std::string_view one) const { return module.empty() || module == one; }
};

// The snippets of TEXT, in order. What stands before the first marker is not a snippet. A marker
// that cannot be read fails a CHECK.
std::vector<Snippet> read_snippets(std::string_view text);
// Those of the prelude that is compiled into the binary.
std::vector<Snippet> prelude_snippets();

}  // namespace slotfuzz
