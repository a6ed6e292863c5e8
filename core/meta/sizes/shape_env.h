// ShapeEnv: sizes as symbols, and the guards under which what was computed with them holds.
//
// An input is a size of an example, with a name for where it comes from. Its expression is a
// constant or a symbol. To decide a relation, the environment asks ranges first, and then the
// hints, the sizes of the example; a decision by hints is a guard. Other inputs pass check() if and
// only if they fit the inputs' expressions, the first ranges of symbols, and all guards (M11).
//
// One thread at a time uses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/meta/sizes/size_expr.h"

namespace slotcore::meta {

// `expr` == 0, != 0, or >= 0.
struct Relation {
  enum class Kind : uint8_t { kEqual, kNotEqual, kNotNegative };

  SizeExpr expr;
  Kind kind = Kind::kEqual;

  bool operator==(const Relation&) const noexcept = default;
  bool holds(int64_t value) const noexcept;
  Relation negated() const;
  std::string text() const;  // an expression of Python
};

// Bounds, both included.
struct Range {
  static constexpr int64_t kNoLimit = INT64_MAX;

  int64_t low = 0;
  int64_t high = kNoLimit;

  bool operator==(const Range&) const noexcept = default;
  bool has(int64_t value) const noexcept { return low <= value && value <= high; }
};

// What a size may become. As in torch: a duck size shares the symbol of an equal one, and 0 and 1
// are constants; a dynamic one has a symbol in any case.
enum class SizeKind : uint8_t { kStatic, kDuck, kDynamic };

inline constexpr SizeKind kSizeKinds[] = {SizeKind::kStatic, SizeKind::kDuck, SizeKind::kDynamic};
const char* name_of(SizeKind kind) noexcept;

// A decision would need a guard after freeze().
class FrozenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ShapeEnv {
 public:
  // A thousand lines make no more; each check() reads all.
  static constexpr size_t kInputsMax = 1024, kGuardsMax = 4096;

  struct Symbol {
    int64_t hint;
    Range first;  // what check() asks for
    Range range;  // the same, and what the guards say
    bool is_duck;

    bool operator==(const Symbol&) const noexcept = default;
  };
  struct Input {
    std::string source;
    SizeExpr expr;

    bool operator==(const Input&) const noexcept = default;
  };

  // Throws invalid_argument for a negative hint, a source that is there already or is no line of
  // printable ASCII, and length_error beyond kInputsMax; FrozenError after freeze().
  SizeExpr add_input(int64_t hint, std::string source, SizeKind kind);

  // Whether the relation holds for the example. Unless ranges and guards imply it, this is a new
  // guard: throws FrozenError after freeze(), length_error beyond kGuardsMax, and what
  // SizeExpr::evaluate() throws; then nothing has changed (M14).
  bool decide(const Relation& relation);
  // The value for the example, which from now on is the only one.
  int64_t specialize(const SizeExpr& expr);
  int64_t hint(const SizeExpr& expr) const;

  // Whether inputs with these sizes, one for each input in order, may use what was decided.
  bool check(std::span<const int64_t> sizes) const;
  void freeze() noexcept { is_frozen_ = true; }

  bool is_frozen() const noexcept { return is_frozen_; }
  const std::vector<Symbol>& symbols() const noexcept { return symbols_; }
  const std::vector<Input>& inputs() const noexcept { return inputs_; }
  const std::vector<Relation>& guards() const noexcept { return guards_; }
  bool operator==(const ShapeEnv&) const noexcept = default;

  // One line for each part; equal for equal environments. `loads` makes an environment that has no
  // object in common (M5), and throws invalid_argument, which names the line, for what no dumps()
  // has written (M6).
  std::string dumps() const;
  static ShapeEnv loads(std::string_view text);

 private:
  std::optional<bool> implied(const Relation& relation) const;
  void add_guard(const Relation& relation);
  void refine(const Relation& relation);
  std::vector<int64_t> hints() const;

  std::vector<Symbol> symbols_;
  std::vector<Input> inputs_;
  std::vector<Relation> guards_;
  bool is_frozen_ = false;
};

// The bounds of an expression; nullopt if 64 bits are too few or a divisor may be 0.
std::optional<Range> range_of(const SizeExpr& expr, std::span<const ShapeEnv::Symbol> symbols);

}  // namespace slotcore::meta
