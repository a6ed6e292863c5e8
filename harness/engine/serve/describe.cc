// The tables as JSON, a row of a table for each object.
#include "harness/engine/serve/describe.h"

#include <string>

#include "harness/engine/planted/planted.h"

namespace slotfuzz {
namespace {

using nlohmann::json;

// The effects of each value that has effects.
json value_effects(const Kind& kind) {
  json effects = json::object();
  for (std::size_t i = 0; i < kind.effects.size(); ++i) {
    if (const auto words = kind.effects[i].words(); !words.empty()) effects[kind.values[i]] = words;
  }
  return effects;
}

// The tier of each value that is not public.
json value_tiers(const Kind& kind) {
  json tiers = json::object();
  for (std::size_t i = 0; i < kind.tiers.size(); ++i) {
    if (kind.tiers[i] != Tier::kPublic) tiers[kind.values[i]] = word_of(kind.tiers[i]);
  }
  return tiers;
}

json as_json(const std::vector<Snippet>& prelude) {
  json snippets = json::array();
  for (const Snippet& snippet : prelude) {
    json names = json::array(), effects = json::object();
    for (const SnippetName& name : snippet.names) {
      names.push_back(name.name);
      if (const auto words = name.effects.words(); !words.empty()) effects[name.name] = words;
    }
    snippets.push_back({{"names", names},
                        {"module", snippet.module},
                        {"sentence", snippet.sentence},
                        {"text", snippet.text},
                        {"effects", effects}});
  }
  return snippets;
}

// Whether the op is one of a target's own theme, which the target `storage` leaves out.
bool is_special(const Session& session, const Op& op) {
  return op.theme != Theme::kStorage && session.weights.of(op.theme) > 0;
}

}  // namespace

json describe(const Session& session, std::string_view target, std::string_view module) {
  json document = {{"target", target},
                   {"module", module},
                   {"python", PY_VERSION},
                   {"layout", session.layout.describe()},
                   {"prelude", as_json(session.interpreter.snippets())},
                   {"line_max", kLineMax},
                   {"lanes", kLaneCount},
                   {"lane_template", kLanePattern}};
  const auto& kinds = session.table.kinds();
  for (const Kind& kind : kinds) {
    document["kinds"].push_back({{"key", kind.key},
                                 {"name", kind.name},
                                 {"prefix", kind.is_variable() ? json(kind.prefix) : json()},
                                 {"values", kind.values},
                                 {"value_effects", value_effects(kind)},
                                 {"value_tiers", value_tiers(kind)},
                                 {"has_names", kind.has_names},
                                 {"count", kind.count}});
  }
  constexpr std::string_view kMarks[] = {"", "-", "=", "*", "+"};
  for (std::size_t i = 0; i < session.table.ops().size(); ++i) {
    const Op& op = session.table.ops()[i];
    json operands = json::array();
    for (const Operand& operand : op.operands) {
      const std::string_view key = operand.kind < 0 ? kAnyVariable : kinds[operand.kind].key;
      operands.push_back(std::string(kMarks[static_cast<int>(operand.use)]).append(key));
    }
    document["ops"].push_back({{"name", op.name},
                               {"operands", operands},
                               {"template", op.pattern},
                               {"needs", op.needs},
                               {"sentence", op.sentence},
                               {"theme", word_of(op.theme)},
                               {"tier", word_of(op.tier)},
                               {"effects", op.effects.words()},
                               {"attribute", op.attribute},
                               {"attribute_of_storage", op.attribute_of_storage},
                               {"checks_kind", op.checks_kind},
                               {"rare", op.is_rare()},
                               {"slow", op.slow},
                               {"certain", op.certain},
                               {"timed", op.timed},
                               {"plain", op.plain},
                               {"special", is_special(session, op)},
                               {"masked", session.masked[i]}});
  }
  for (const Check& check : check_table()) {
    json planted = json::array();
    for (const PlantedProgram& program : check.planted) planted.push_back(program.name);
    document["checks"].push_back({{"contract", check.contract},
                                  {"check", check.name},
                                  {"text", check.text},
                                  {"implies", EffectSet(check.implies).words()},
                                  {"planted", planted},
                                  {"unplanted", check.unplanted}});
  }
  for (const Planted& bug : planted_bugs()) {
    document["planted"].push_back(
        {{"name", bug.name}, {"oracle", bug.oracle}, {"expect", bug.expect}});
  }
  return document;
}

}  // namespace slotfuzz
