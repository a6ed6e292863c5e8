// A second pass over the text, line by line, finds the dropped lines: a hunt, which parses millions
// of texts, does not pay for it.
#include "harness/engine/serve/reply.h"

#include <utility>
#include <vector>

namespace slotfuzz {
namespace {

using nlohmann::json;

bool says_nothing(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t\r\f\v");
  return begin == std::string_view::npos || line[begin] == '#';
}

}  // namespace

json lines_as_json(const OpTable& table, const Program& program) {
  json lines = json::array();
  for (const Line& line : program.lines) {
    const Op& op = table.ops()[line.op];
    json operands = json::array(), binds = json::array();
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      operands.push_back(table.print_operand(op, i, line.operands[i]));
      if (op.operands[i].binds()) binds.push_back(operands.back());
    }
    lines.push_back({{"text", table.print(line)},
                     {"bare", table.print_bare(line)},
                     {"op", op.name},
                     {"operands", operands},
                     {"lane", line.lane},
                     {"binds", binds}});
  }
  return lines;
}

json verdict_as_json(const Verdict& verdict) {
  return {{"kind", verdict.kind},
          {"contract", verdict.contract},
          {"check", verdict.check},
          {"object", verdict.object},
          {"message", verdict.message},
          {"asserts", verdict.asserts},
          {"line", verdict.line},
          {"implies", verdict.implies.words()},
          {"keeps", verdict.keeps},
          {"serial", verdict.serial ? json(*verdict.serial) : json()}};
}

json kept_as_json(const std::vector<KeptCycle>& kept) {
  json all = json::array();
  for (const KeptCycle& one : kept) {
    json cycle = json::array();
    for (const auto& [name, link] : one.cycle) cycle.push_back({{"name", name}, {"link", link}});
    all.push_back({{"why", word_of(one.kept)},
                   {"excused", is_excused(one.kept)},
                   {"part", one.part},
                   {"owners", one.owners},
                   {"cycle", cycle}});
  }
  return all;
}

json clean_reply(std::size_t line) {
  json reply = verdict_as_json(Verdict());
  reply.update({{"outcome", "clean"}, {"line", line}, {"signal", 0}, {"exit", 0}});
  return reply;
}

void report_dropped(Session& session, std::string_view text, const nlohmann::json& request,
                    bool run, nlohmann::json& reply) {
  using Stretches = std::vector<std::pair<std::size_t, std::size_t>>;
  const auto frame = request.value("frame", Stretches());
  auto stretch = frame.begin();
  nlohmann::json named = nlohmann::json::array();
  std::size_t count = 0, kept = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto parsed = session.printer.parse_line(line);
    const char* why = nullptr;
    if (!parsed) {
      while (stretch != frame.end() && stretch->second < number) ++stretch;
      const bool is_frame = stretch != frame.end() && stretch->first <= number;
      if (is_frame || says_nothing(line)) continue;
      why = "no op";
    } else if (kept == kLineMax) {
      why = "too many";
    } else {
      ++kept;
      if (!run || session.available[parsed->op]) continue;
      why = "masked";
    }
    if (++count > kDroppedLinesMax) continue;
    named.push_back({{"line", number}, {"text", line.substr(0, kLineLengthMax)}, {"why", why}});
  }
  reply["dropped_lines"] = std::move(named);
  reply["dropped_count"] = count;
}

}  // namespace slotfuzz
