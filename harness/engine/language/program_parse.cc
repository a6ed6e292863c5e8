// Parses a line: finds the row of the op table that it is an instance of.
#include <algorithm>
#include <cctype>

#include "harness/engine/language/program.h"

namespace slotfuzz {
namespace {

constexpr std::string_view kWith = "with ";
constexpr std::string_view kSuppress = "with suppress(";

// How every line on a lane begins.
constexpr std::string_view kLaneBegin = kLanePattern.substr(0, kLanePattern.find('{'));

// The text before and after a line on the given lane.
std::pair<std::string, std::string_view> around_line(std::size_t lane) {
  const auto at = kLanePattern.find("{1}");
  std::string before(kLanePattern.substr(0, at));
  before.replace(before.find("{0}"), 3, std::to_string(lane));
  return {before, kLanePattern.substr(at + 3)};
}

}  // namespace

std::uint32_t OpTable::follow(std::uint32_t node, Edge wanted) {
  for (const Edge& edge : tree_[node].edges) {
    const bool same_operand = edge.index == wanted.index && edge.kind == wanted.kind;
    if (edge.letter == wanted.letter && same_operand) return edge.next;
  }
  wanted.next = static_cast<std::uint32_t>(tree_.size());
  tree_[node].edges.push_back(wanted);
  tree_.emplace_back();
  return wanted.next;
}

void OpTable::grow(std::size_t op) {
  const std::string_view pattern = ops_[op].pattern;
  std::uint32_t node = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '{') {
      node = follow(node, {.letter = pattern[at]});
      continue;
    }
    const auto index = static_cast<std::uint8_t>(pattern[at + 1] - '0');
    node = follow(node, {.index = index, .kind = ops_[op].operands[index].kind});
    at += 2;
  }
  if (!tree_[node].op) tree_[node].op = static_cast<std::uint16_t>(op);
}

// The longest prefix of `text` that is an operand of the kind, and its length.
std::optional<std::pair<std::uint8_t, std::size_t>> OpTable::match_operand(
    int kind, std::string_view text) const {
  std::optional<std::pair<std::uint8_t, std::size_t>> longest;
  const auto consider = [&](const std::string& candidate, std::size_t value) {
    if (!text.starts_with(candidate) || (longest && candidate.size() <= longest->second)) return;
    longest = {static_cast<std::uint8_t>(value), candidate.size()};
  };
  const bool is_any = kind < 0;
  if (!is_any && !kinds_[kind].is_variable()) {
    const auto& values = kinds_[kind].values;
    for (std::size_t value = 0; value < values.size(); ++value) consider(values[value], value);
    return longest;
  }
  const std::size_t first = is_any ? 0 : kinds_[kind].first_variable;
  const std::size_t end = is_any ? variable_names_.size() : first + kinds_[kind].count;
  for (std::size_t name = first; name < end; ++name) consider(variable_names_[name], name);
  return longest;
}

void OpTable::walk_on(std::uint32_t node, std::string_view text, const Walk& walk,
                      std::optional<Line>& best) const {
  if (const auto op = tree_[node].op; op && text.empty() && (!best || *op < best->op)) {
    best = Line{*op, walk.operands};
  }
  for (const Edge& edge : tree_[node].edges) {
    if (edge.letter) {
      if (text.starts_with(edge.letter)) walk_on(edge.next, text.substr(1), walk, best);
      continue;
    }
    const auto operand = match_operand(edge.kind, text);
    if (!operand) continue;
    // A placeholder that occurs twice must match the same operand twice.
    if (walk.seen[edge.index] && walk.operands[edge.index] != operand->first) continue;
    Walk further = walk;
    further.seen[edge.index] = true;
    further.operands[edge.index] = operand->first;
    walk_on(edge.next, text.substr(operand->second), further, best);
  }
}

std::optional<Line> OpTable::parse_bare(std::string_view text) const {
  std::optional<Line> best;
  walk_on(0, text, {}, best);
  return best;
}

std::optional<Line> OpTable::parse(std::string_view text) const {
  if (text.size() > kLineLengthMax) return std::nullopt;
  std::string without_suppress;
  if (text.starts_with(kSuppress)) {
    const auto end = text.find(')');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view name = text.substr(kSuppress.size(), end - kSuppress.size());
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c); })) {
      return std::nullopt;
    }
    text.remove_prefix(end + 1);
    if (text.starts_with(", ")) {
      without_suppress = std::string(kWith) + std::string(text.substr(2));
      text = without_suppress;
    } else if (text.starts_with(": ") && !text.substr(2).starts_with(kWith)) {
      text.remove_prefix(2);
    } else {
      return std::nullopt;
    }
  }
  for (std::size_t lane = 1; text.starts_with(kLaneBegin) && lane < kLaneCount; ++lane) {
    const auto [before, after] = around_line(lane);
    if (!text.starts_with(before) || !text.ends_with(after)) continue;
    text.remove_prefix(before.size());
    auto line = parse_bare(text.substr(0, text.size() - after.size()));
    if (line) line->lane = static_cast<std::uint8_t>(lane);
    return line;
  }
  return parse_bare(text);
}

std::optional<Line> Printer::parse_line(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  // A longer text matches no template, and would be slow to look up.
  if (text.size() > kLineLengthMax) return std::nullopt;
  const auto known = lines_.find(text);
  if (known != lines_.end()) return known->second;
  const auto parsed = table_.parse(text);
  // Any exception name may stand in `with suppress(..)`, so the table does not bound these lines.
  if (parsed && !text.starts_with(kSuppress)) lines_.emplace(text, *parsed);
  return parsed;
}

Program Printer::parse(std::string_view text) {
  forget();
  Program program;
  program.lines.reserve(std::min<std::size_t>(std::count(text.begin(), text.end(), '\n') + 1,
                                              kLineMax));
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line == "\r") continue;
    const auto parsed = parse_line(line);
    if (parsed && program.lines.size() < kLineMax)
      program.lines.push_back(*parsed);
    else
      ++program.dropped;
  }
  return program;
}

}  // namespace slotfuzz
