// The text of an environment: a line for each part, in the order in which the parts were made.
//
//   slotfuzz-shape-env 1
//   symbol HINT LOW duck|dynamic
//   input EXPRESSION SOURCE
//   guard EXPRESSION ==|!=|>= 0
//   frozen
//
// Reading repeats what the writer did: guards narrow ranges again, and so need not be written.

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
    text += "\nsymbol " + std::to_string(symbol.hint) + " " + std::to_string(symbol.first.low) +
            (symbol.is_duck ? " duck" : " dynamic");
  }
  for (const Input& input : inputs_) text += "\ninput " + input.expr.text() + " " + input.source;
  for (const Relation& guard : guards_) text += "\nguard " + guard.text();
  return text + (is_frozen_ ? "\nfrozen\n" : "\n");
}

ShapeEnv ShapeEnv::loads(std::string_view text) {
  ShapeEnv env;
  size_t number = 0;
  size_t used = 0;  // the symbols that belong to inputs so far
  auto read = [&](std::string_view words) {
    Line line(words);
    if (number == 1) {
      require(words == kHeader, "this is no shape environment of version 1");
    } else if (line.take("symbol ")) {
      int64_t hint = line.number();
      require(line.take(" ") && env.inputs_.empty(), "a symbol stands before all inputs");
      int64_t low = line.number();
      bool is_duck = line.take(" duck");
      require(is_duck || line.take(" dynamic"), "expected duck or dynamic");
      require(low == (is_duck ? 2 : 0) && hint >= low, "no symbol has this range and hint");
      require(env.symbols_.size() < kInputsMax, "too many symbols");
      for (const Symbol& other : env.symbols_)
        require(!is_duck || !other.is_duck || other.hint != hint, "equal sizes share a symbol");
      Range range{low, Range::kNoLimit};
      env.symbols_.push_back({hint, range, range, is_duck});
    } else if (line.take("input ")) {
      size_t space = line.rest().find(' ');
      require(space != std::string_view::npos && env.guards_.empty(), "an input has a source");
      SizeExpr expr = SizeExpr::parse(line.rest().substr(0, space));
      bool is_symbol = expr.terms().size() == 1 && !expr.is_constant() &&
                       expr == SizeExpr::symbol(expr.symbol_count() - 1);
      require(expr.is_constant() ? expr.constant() >= 0 : is_symbol, "an input is no expression");
      require(expr.symbol_count() <= env.symbols_.size(), "there is no such symbol");
      // A static input has no rule of its own to break, so the source is checked as for one.
      (void)env.add_input(expr.constant(), std::string(line.rest().substr(space + 1)),
                          SizeKind::kStatic);
      env.inputs_.back().expr = expr;
      if (!is_symbol) return;
      // A symbol is made by its first input, and only duck sizes share one.
      size_t symbol = expr.symbol_count() - 1;
      require(symbol <= used, "an earlier symbol belongs to no input");
      require(symbol == used || env.symbols_[symbol].is_duck, "a dynamic size shares no symbol");
      used = std::max(used, symbol + 1);
    } else if (line.take("guard ")) {
      Relation guard = relation_of(line.rest());
      require(guard.expr.symbol_count() <= env.symbols_.size(), "there is no such symbol");
      require(guard.holds(env.hint(guard.expr)), "the hints do not fit this guard");
      require(!env.implied(guard), "this guard says nothing new");
      env.add_guard(guard);
    } else {
      require(line.take("frozen") && !env.is_frozen_, "expected symbol, input, guard or frozen");
      line.end();
      env.freeze();
    }
    require(number == 1 || !env.is_frozen_ || words == "frozen", "a line after frozen");
  };
  require(text.ends_with('\n'), "line 1: the text does not end with a line");
  for (std::string_view rest = text; !rest.empty();) {
    number++;
    size_t end = rest.find('\n');
    try {
      read(rest.substr(0, end));
    } catch (const std::exception& error) {
      throw std::invalid_argument("line " + std::to_string(number) + ": " + error.what());
    }
    rest.remove_prefix(end + 1);
  }
  require(used == env.symbols_.size(), "a symbol belongs to no input");
  require(env.dumps() == text, "the text is not in the one form");
  return env;
}

}  // namespace slotcore::meta
