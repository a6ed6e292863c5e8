// Programs: lists of lines, each an instance of one row of the op table. Parses and prints them.
//
// The text of a program is Python. Parsing never fails: it drops and counts each line that matches
// no template, so nothing from an untrusted corpus is ever executed.
//
// A line may run on another thread than the main one: `lane(1, "del s0")` runs `del s0` on the
// long-lived thread 1 and waits for it. The lines thus run one at a time, in the order of the text.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/engine/language/op.h"
#include "harness/engine/language/table_files.h"

namespace slotfuzz {

// Longer programs find few more bugs than shorter ones, and cost time.
inline constexpr std::size_t kLineMax = 60;
// The threads that a program's lines run on: lane 0 is the main thread.
inline constexpr std::size_t kLaneCount = 3;
// How a line on another lane is printed: {0} is the lane, {1} the line. A template must therefore
// contain no double quote.
inline constexpr std::string_view kLanePattern = "lane({0}, \"{1}\")";
// All template instances are much shorter; this limits what the parser reads.
inline constexpr std::size_t kLineLengthMax = 200;

// One line: an op; for each operand a variable number or the index of a literal value; and a lane.
struct Line {
  std::uint16_t op = 0;
  std::array<std::uint8_t, kOperandMax> operands{};
  std::uint8_t lane = 0;

  auto operator<=>(const Line&) const = default;
};

struct Program {
  std::vector<Line> lines;
  // The number of lines of the text that matched no template.
  std::size_t dropped = 0;
};

// Whether a line runs on another lane than 0.
bool has_lanes(const Program& program);

class OpTable {
 public:
  // The table that is compiled into the binary. Throws TableError.
  OpTable() : OpTable(embedded_table()) {}
  explicit OpTable(const std::vector<TableFile>& files);

  const std::vector<Op>& ops() const { return ops_; }
  const std::vector<Kind>& kinds() const { return kinds_; }
  // Whether a line can have an effect, by its op or by one of its literal values.
  bool has(const Line& line, Effect effect) const;
  int variable_count() const { return static_cast<int>(variable_names_.size()); }
  const std::string& variable_name(int variable) const { return variable_names_[variable]; }
  // Whether an operand is a variable, and not a literal value.
  bool is_variable(const Operand& operand) const {
    return operand.kind < 0 || kinds_[operand.kind].is_variable();
  }
  std::optional<std::uint16_t> find_op(std::string_view name) const;
  // The first op with this effect.
  std::optional<std::uint16_t> find_op(Effect effect) const;
  std::optional<int> find_variable(std::string_view name) const;
  // The index of the kind with this key. Compare it with the `kind` of operands.
  std::optional<int> find_kind(std::string_view key) const;

  std::string print(const Line& line) const;
  // Prints the line as it would look on lane 0.
  std::string print_bare(const Line& line) const;
  std::string print_operand(const Op& op, std::size_t index, std::uint8_t value) const;
  // Parses an instance of a template. Accepts the prefix `with suppress(Name): `, or
  // `with suppress(Name), ` in the place of the `with ` of a line.
  std::optional<Line> parse(std::string_view text) const;

 private:
  // An edge of the template tree: a letter, or, if the letter is 0, the operand INDEX of its row.
  struct Edge {
    char letter = 0;
    std::uint8_t index = 0;
    int kind = -1;
    std::uint32_t next = 0;
  };
  // Templates with a common prefix share its nodes, so that parsing a line does not try each row.
  struct Node {
    std::vector<Edge> edges;
    // The first row of the table whose template ends here.
    std::optional<std::uint16_t> op;
  };
  // The operands that a walk through the tree has matched so far, and their values.
  struct Walk {
    std::array<std::uint8_t, kOperandMax> operands{};
    std::array<bool, kOperandMax> seen{};
  };

  // Adds the template of a row to the tree.
  void grow(std::size_t op);
  // The node behind an edge equal to WANTED; adds the edge if it is missing.
  std::uint32_t follow(std::uint32_t node, Edge wanted);
  // Continues the walk from a node; BEST is the line of the first row whose template has matched.
  void walk_on(std::uint32_t node, std::string_view text, const Walk& walk,
               std::optional<Line>& best) const;
  std::optional<Line> parse_bare(std::string_view text) const;
  std::optional<std::pair<std::uint8_t, std::size_t>> match_operand(int kind,
                                                                    std::string_view text) const;

  std::vector<Kind> kinds_;
  std::vector<Op> ops_;
  std::vector<std::string> variable_names_;
  std::vector<Node> tree_;
};

// As many lines are kept in a cache: a line that draws several literals has millions of instances.
inline constexpr std::size_t kLinesKept = std::size_t{1} << 16;

// Prints and parses whole programs, and caches lines: a fuzzer sees most of them millions of times.
class Printer {
 public:
  explicit Printer(const OpTable& table) : table_(table) {}

  Program parse(std::string_view text);
  // Parses one line, without its newline.
  std::optional<Line> parse_line(std::string_view text);
  std::string print(const Program& program);
  const std::string& print(const Line& line);
  const OpTable& table() const { return table_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  // Empties the caches if one has more than kLinesKept.
  void forget();

  const OpTable& table_;
  std::unordered_map<std::string, Line, Hash, std::equal_to<>> lines_;
  std::unordered_map<std::uint64_t, std::string> texts_;
};

// A line as one number, to key caches.
inline std::uint64_t key_of(const Line& line) {
  std::uint64_t key = std::uint64_t{line.lane} << 16 | line.op;
  for (const std::uint8_t operand : line.operands) key = key << 8 | operand;
  return key;
}

}  // namespace slotfuzz
