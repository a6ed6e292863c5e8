// The text of an environment: a line for each part, in the order in which the parts were made.
//
//   slotfuzz-shape-env 1
//   symbol HINT LOW duck|dynamic
//   symbol unbacked
//   input EXPRESSION SOURCE
//   guard EXPRESSION ==|!=|>= 0
//   assert EXPRESSION ==|!=|>= 0
//   frozen
//
// Reading repeats what the writer did: constraints narrow ranges and replace symbols again, so that
// neither is written. Symbols come first, then inputs, then constraints.

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "core/meta/sizes/shape_env.h"

namespace slotcore::meta {
namespace {

using Kind = Relation::Kind;

constexpr std::string_view kHeader = "slotfuzz-shape-env 1";

struct KindText {
  Kind kind;
  std::string_view text;
};
constexpr KindText kKinds[] = {
    {Kind::kEqual, " == 0"}, {Kind::kNotEqual, " != 0"}, {Kind::kNotNegative, " >= 0"}};

// One line; its words are taken from the left.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  int64_t number() {
    int64_t value;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) throw std::invalid_argument("expected an integer");
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  std::string_view rest() const { return rest_; }
  void end() const {
    if (!rest_.empty()) throw std::invalid_argument("expected the end of the line");
  }

 private:
  std::string_view rest_;
};

Relation relation_of(std::string_view text) {
  for (const KindText& row : kKinds) {
    if (text.ends_with(row.text))
      return {SizeExpr::parse(text.substr(0, text.size() - row.text.size())), row.kind};
  }
  throw std::invalid_argument("expected a relation");
}

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace

std::string ShapeEnv::dumps() const {
  std::string text(kHeader);
  for (const Symbol& symbol : symbols_) {
    text += "\nsymbol ";
    if (symbol.kind != SizeKind::kUnbacked)
      text += std::to_string(symbol.hint) + " " + std::to_string(symbol.first.low) + " ";
    text += name_of(symbol.kind);
  }
  for (const Input& input : inputs_) text += "\ninput " + input.expr.text() + " " + input.source;
  for (const Constraint& constraint : constraints_)
    text += (constraint.is_assertion ? "\nassert " : "\nguard ") + constraint.relation.text();
  return text + (is_frozen_ ? "\nfrozen\n" : "\n");
}

class ShapeEnv::Reader {
 public:
  ShapeEnv read(std::string_view text) {
    require(text.ends_with('\n'), "line 1: the text does not end with a line");
    size_t number = 0;
    for (std::string_view rest = text; !rest.empty();) {
      number++;
      size_t end = rest.find('\n');
      try {
        read_line(rest.substr(0, end), /*is_first=*/number == 1);
      } catch (const std::exception& error) {
        throw std::invalid_argument("line " + std::to_string(number) + ": " + error.what());
      }
      rest.remove_prefix(end + 1);
    }
    skip_unbacked();
    require(used_ == env_.symbols_.size(), "a symbol belongs to no input");
    require(env_.dumps() == text, "the text is not in the one form");
    return std::move(env_);
  }

 private:
  void read_line(std::string_view words, bool is_first) {
    Line line(words);
    require(is_first || !env_.is_frozen_, "a line after frozen");
    if (is_first) {
      require(words == kHeader, "this is no shape environment of version 1");
    } else if (line.take("symbol ")) {
      require(env_.inputs_.empty() && env_.constraints_.empty(),
              "a symbol stands before all inputs");
      read_symbol(line);
    } else if (line.take("input ")) {
      require(env_.constraints_.empty(), "an input stands before all constraints");
      read_input(line.rest());
    } else if (line.take("guard ")) {
      read_constraint(line.rest(), /*is_assertion=*/false);
    } else if (line.take("assert ")) {
      read_constraint(line.rest(), /*is_assertion=*/true);
    } else {
      require(line.take("frozen"), "expected symbol, input, guard, assert or frozen");
      line.end();
      env_.freeze();
    }
  }

  void read_symbol(Line& line) {
    if (line.take("unbacked")) {
      line.end();
      (void)env_.add_unbacked();
      return;
    }
    int64_t hint = line.number();
    require(line.take(" "), "a symbol has a hint and a lower bound");
    int64_t low = line.number();
    bool is_duck = line.take(" duck");
    require(is_duck || line.take(" dynamic"), "expected duck or dynamic");
    line.end();
    SizeKind kind = is_duck ? SizeKind::kDuck : SizeKind::kDynamic;
    require(low == (is_duck ? 2 : 0) && hint >= low, "no symbol has this range and hint");
    require(env_.symbols_.size() < SizeExpr::kSymbolsMax, "too many symbols");
    for (const Symbol& other : env_.symbols_)
      require(!is_duck || other.kind != kind || other.hint != hint, "equal sizes share a symbol");
    Range range{low, Range::kNoLimit};
    env_.symbols_.push_back({hint, range, range, kind});
  }

  void read_input(std::string_view words) {
    size_t space = words.find(' ');
    require(space != std::string_view::npos, "an input has a source");
    SizeExpr expr = SizeExpr::parse(words.substr(0, space));
    check_symbols(expr);
    bool is_symbol = !expr.is_constant() && !expr.has_unbacked() &&
                     expr == SizeExpr::symbol(expr.symbol_count() - 1);
    require(expr.is_constant() ? expr.constant() >= 0 : is_symbol, "an input is no expression");
    // A static input has no rule of its own to break, so the source is checked as for one.
    (void)env_.add_input(expr.constant(), std::string(words.substr(space + 1)), SizeKind::kStatic);
    env_.inputs_.back().expr = expr;
    if (!is_symbol) return;
    // A symbol is made by its first input, and only duck sizes share one.
    skip_unbacked();
    size_t symbol = expr.symbol_count() - 1;
    require(symbol <= used_, "an earlier symbol belongs to no input");
    require(symbol == used_ || env_.symbols_[symbol].kind == SizeKind::kDuck,
            "a dynamic size shares no symbol");
    used_ = std::max(used_, symbol + 1);
  }

  void read_constraint(std::string_view words, bool is_assertion) {
    Relation constraint = relation_of(words);
    check_symbols(constraint.expr);
    require(env_.simplify(constraint.expr) == constraint.expr,
            "an earlier line replaces a symbol of this one");
    require(is_assertion == constraint.expr.has_unbacked(),
            "a guard has no unbacked symbol, and an assertion has one");
    require(is_assertion || constraint.holds(env_.hint(constraint.expr)),
            "the hints do not fit this guard");
    require(!env_.known(constraint, constraint), "this says nothing new");
    env_.add_constraint(constraint, is_assertion);
  }

  void check_symbols(const SizeExpr& expr) const {
    require(env_.has_symbols_of(expr), "there is no such symbol");
  }

  void skip_unbacked() {
    while (used_ < env_.symbols_.size() && env_.symbols_[used_].kind == SizeKind::kUnbacked)
      used_++;
  }

  ShapeEnv env_;
  size_t used_ = 0;  // the symbols that are unbacked, or belong to inputs so far
};

ShapeEnv ShapeEnv::loads(std::string_view text) { return Reader().read(text); }

}  // namespace slotcore::meta
