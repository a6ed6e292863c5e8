// Matches subsequences up to renaming.
#include "harness/engine/session/suppressions.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <sstream>

#include "harness/engine/run/interpreter.h"

namespace slotfuzz {
namespace {

// A set of ops, as bits: comparing two sets rules out most programs.
std::vector<std::uint64_t> ops_of(const Program& program, std::size_t op_count) {
  std::vector<std::uint64_t> ops((op_count + 63) / 64);
  for (const Line& line : program.lines) ops[line.op / 64] |= std::uint64_t{1} << line.op % 64;
  return ops;
}

class Match {
 public:
  Match(const OpTable& table, const Program& minimal, bool has_lanes, const Program& program)
      : table_(table), minimal_(minimal), has_lanes_(has_lanes), program_(program) {
    names_.variables.fill(kFree);
    names_.lanes.fill(kFree);
  }

  // Whether minimal's lines from `m` on occur in the program from line `p` on.
  bool from(std::size_t m, std::size_t p) {
    if (m == minimal_.lines.size()) return true;
    for (; p + (minimal_.lines.size() - m) <= program_.lines.size(); ++p) {
      const auto before = names_;
      if (unify(m, program_.lines[p]) && from(m + 1, p + 1)) return true;
      names_ = before;
    }
    return false;
  }

 private:
  static constexpr std::uint8_t kFree = 0xFF;

  // The program's names for the variables and lanes of the minimal program.
  struct Names {
    std::array<std::uint8_t, kVariableMax> variables;
    std::array<std::uint8_t, kLaneCount> lanes;
  };

  // Two lanes never map to one lane: the minimal program would then need one lane less.
  bool unify_lanes(std::uint8_t mine, std::uint8_t theirs) {
    std::uint8_t& name = names_.lanes[mine];
    if (name != kFree) return name == theirs;
    if (std::find(names_.lanes.begin(), names_.lanes.end(), theirs) != names_.lanes.end()) {
      return false;
    }
    name = theirs;
    return true;
  }

  bool unify_variables(std::uint8_t mine, std::uint8_t theirs) {
    std::uint8_t& name = names_.variables[mine];
    if (name == kFree) name = theirs;
    return name == theirs;
  }

  bool unify(std::size_t m, const Line& theirs) {
    const Line& mine = minimal_.lines[m];
    if (has_lanes_ && !unify_lanes(mine.lane, theirs.lane)) return false;
    const Op& op = table_.ops()[mine.op];
    // The last line may be what breaks, so its plain ops are not interchangeable.
    if (op.plain && m + 1 < minimal_.lines.size()) {
      // Any line that binds an object of the kind matches.
      const auto& operands = table_.ops()[theirs.op].operands;
      return !operands.empty() && operands[0].binds() && operands[0].kind == op.operands[0].kind &&
             unify_variables(mine.operands[0], theirs.operands[0]);
    }
    if (mine.op != theirs.op) return false;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const int kind = op.operands[i].kind;
      const bool is_variable = kind < 0 || table_.kinds()[kind].is_variable();
      if (is_variable && !unify_variables(mine.operands[i], theirs.operands[i])) return false;
      if (is_variable || !table_.kinds()[kind].has_names) continue;
      if (mine.operands[i] != theirs.operands[i]) return false;
    }
    return true;
  }

  const OpTable& table_;
  const Program& minimal_;
  const bool has_lanes_;
  const Program& program_;
  Names names_;
};

}  // namespace

void Suppressions::add(const Program& minimal) {
  if (minimal.lines.empty()) return;
  Program particular = minimal;
  const auto last = particular.lines.end() - 1;
  particular.lines.erase(
      std::remove_if(particular.lines.begin(), last,
                     [&](const Line& line) { return table_.ops()[line.op].plain; }),
      last);
  entries_.push_back({minimal, ops_of(particular, table_.ops().size()), has_lanes(minimal)});
}

void Suppressions::add_folder(const std::string& folder, Printer& printer) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (!files_.insert(file.path()).second) continue;
    std::ostringstream text;
    text << std::ifstream(file.path(), std::ios::binary).rdbuf();
    if (file.path().extension() == ".py") add(printer.parse(text.str()));
    if (file.path().extension() == ".txt") errors_.insert(text.str());
  }
  if (error) throw StartError(folder + ": " + error.message());
}

bool Suppressions::contains(const Program& program) const {
  if (entries_.empty()) return false;
  const auto ops = ops_of(program, table_.ops().size());
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (entry.ops[i] & ~ops[i]) return false;
    }
    return Match(table_, entry.minimal, entry.has_lanes, program).from(0, 0);
  });
}

bool Suppressions::contains_error(std::string_view message) const {
  return !errors_.empty() && errors_.contains(normalised(message));
}

std::string normalised(std::string_view message) {
  static const std::regex address("0x[0-9a-fA-F]+"), number("\\b[0-9]+\\b");
  std::string text(message.substr(0, message.find('\n')));
  text = std::regex_replace(text, address, "ADDRESS");
  text = std::regex_replace(text, number, "N");
  text.erase(text.find_last_not_of(" \t\r") + 1);
  return text;
}

}  // namespace slotfuzz
