// ShapeEnv: sizes as symbols, and the guards under which what was computed with them holds.
//
// An input is a size of an example, with a name for where it comes from. Its expression is a
// constant or a symbol. To decide a relation, the environment asks ranges first, and then the
// hints, the sizes of the example; a decision by hints is a guard. Other inputs pass check() if and
// only if they fit the inputs' expressions, the first ranges of symbols, and all guards (M11).
//
// An unbacked symbol is a number that a program computes from data, so no hint decides it. What the
// program asserts of it is kept, and taken for true: the code that runs the program checks the
// assertion when the number is there. Guards and assertions are constraints. A constraint about one
// symbol narrows its range; an equation gives a symbol a replacement, which later expressions have
// in its place.
//
// One thread at a time uses it.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/meta/sizes/relation.h"

namespace slotcore::meta {

// Bounds, both included.
struct Range {
  static constexpr int64_t kNoLowerLimit = INT64_MIN, kNoLimit = INT64_MAX;

  int64_t low = kNoLowerLimit;
  int64_t high = kNoLimit;

  bool operator==(const Range&) const noexcept = default;
  bool has(int64_t value) const noexcept { return low <= value && value <= high; }
};

// What a size may become. As in torch: a duck size shares the symbol of an equal one, and 0 and 1
// are constants; a dynamic one has a symbol in any case. No input is unbacked.
enum class SizeKind : uint8_t { kStatic, kDuck, kDynamic, kUnbacked };

inline constexpr SizeKind kInputKinds[] = {SizeKind::kStatic, SizeKind::kDuck, SizeKind::kDynamic};
const char* name_of(SizeKind kind) noexcept;

// A decision would need a guard after freeze().
class FrozenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A decision needs a number that only the data has.
class DataDependentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What was asserted is false, for each input that passes.
class AssertionFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ShapeEnv {
 public:
  // A thousand lines make no more; each check() reads all.
  static constexpr size_t kInputsMax = 1024, kConstraintsMax = 4096;

  struct Symbol {
    int64_t hint;  // 0 if it is unbacked: nothing reads it
    Range first;   // what check() asks for
    Range range;   // the same, and what the constraints say
    SizeKind kind;

    bool operator==(const Symbol&) const noexcept = default;
  };
  struct Input {
    std::string source;
    SizeExpr expr;

    bool operator==(const Input&) const noexcept = default;
  };

  struct Constraint {
    Relation relation;
    bool is_assertion;  // else a guard

    bool operator==(const Constraint&) const noexcept = default;
  };

  // Throws invalid_argument for a negative hint, a source that is there already or is no line of
  // printable ASCII, and length_error beyond kInputsMax; FrozenError after freeze().
  SizeExpr add_input(int64_t hint, std::string source, SizeKind kind);
  // A new symbol without a hint. Throws FrozenError after freeze(), length_error beyond
  // SizeExpr::kSymbolsMax.
  SizeExpr add_unbacked();

  // Whether the relation holds for the example. Unless ranges and constraints imply it, this is a
  // new guard: throws FrozenError after freeze(), length_error beyond kConstraintsMax,
  // DataDependentError if an unbacked symbol decides, and what SizeExpr::evaluate() throws; then
  // nothing has changed (M14).
  bool decide(const Relation& relation);
  // Takes the relation for true. Without unbacked symbols it is decided, now. Throws
  // AssertionFailed if it is known to be false, and what decide() throws but for
  // DataDependentError.
  void assert_later(const Relation& relation);
  // The value for the example, which from now on is the only one.
  int64_t specialize(const SizeExpr& expr);
  // Throws DataDependentError for an expression with unbacked symbols.
  int64_t hint(const SizeExpr& expr) const;
  // The expression with the replacements of its symbols.
  SizeExpr simplify(SizeExpr expr) const;

  // Whether inputs with these sizes, one for each input in order, may use what was decided. With
  // `unbacked`, a number for each unbacked symbol in order, also whether all assertions hold.
  bool check(std::span<const int64_t> sizes,
             std::optional<std::span<const int64_t>> unbacked = std::nullopt) const;
  void freeze() noexcept { is_frozen_ = true; }

  bool is_frozen() const noexcept { return is_frozen_; }
  // How much was added; none of it is taken away.
  struct Counts {
    size_t symbols = 0, inputs = 0, constraints = 0;
    bool operator==(const Counts&) const noexcept = default;
  };
  Counts counts() const noexcept { return {symbols_.size(), inputs_.size(), constraints_.size()}; }
  const std::vector<Input>& inputs() const noexcept { return inputs_; }
  const std::vector<Constraint>& constraints() const noexcept { return constraints_; }
  const std::map<uint32_t, SizeExpr>& replacements() const noexcept { return replacements_; }
  uint32_t symbol_count() const noexcept { return static_cast<uint32_t>(symbols_.size()); }
  // What check() asks for.
  Range first_range(uint32_t symbol) const noexcept { return symbols_[symbol].first; }
  // Whether each symbol of the expression is one of this environment.
  bool has_symbols_of(const SizeExpr& expr) const;
  // A symbol as an expression.
  SizeExpr symbol(uint32_t number) const;
  bool operator==(const ShapeEnv&) const noexcept = default;

  // One line for each part; equal for equal environments. `loads` makes an environment that has no
  // object in common (M5), and throws invalid_argument, which names the line, for what no dumps()
  // has written (M6).
  std::string dumps() const;
  static ShapeEnv loads(std::string_view text);

 private:
  class Reader;

  // What ranges and constraints say of a relation, and of the same in its simple form.
  std::optional<bool> known(const Relation& asked, const Relation& simple) const;
  bool is_implied(const Relation& relation) const;
  void add_constraint(const Relation& relation, bool is_assertion);
  void refine(const Relation& relation);
  std::map<uint32_t, SizeExpr> replacements_of(const Relation& relation) const;
  void replace(std::map<uint32_t, SizeExpr> changed);

  std::vector<Symbol> symbols_;
  std::vector<Input> inputs_;
  std::vector<Constraint> constraints_;
  std::map<uint32_t, SizeExpr> replacements_;  // no expression in it has a symbol of it
  RelationSet present_;                        // those of constraints_, with the replacements
  bool is_frozen_ = false;
};

// The bounds of an expression; nullopt if a divisor may be 0. What is beyond 64 bits has no limit.
std::optional<Range> range_of(const SizeExpr& expr, std::span<const ShapeEnv::Symbol> symbols);

}  // namespace slotcore::meta
