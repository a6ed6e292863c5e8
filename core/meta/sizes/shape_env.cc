// Decisions, guards and assertions. A constraint is kept in its simplified form, in the order in
// which constraints came: the replacements of later ones follow from earlier ones.

#include "core/meta/sizes/shape_env.h"

#include <algorithm>

namespace slotcore::meta {
namespace {

using Kind = Relation::Kind;

bool is_line(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= ' ' && letter <= '~'; });
}

}  // namespace

const char* name_of(SizeKind kind) noexcept {
  switch (kind) {
    case SizeKind::kStatic: return "static";
    case SizeKind::kDuck: return "duck";
    case SizeKind::kDynamic: return "dynamic";
    case SizeKind::kUnbacked: return "unbacked";
  }
  __builtin_unreachable();
}

SizeExpr ShapeEnv::add_input(int64_t hint, std::string source, SizeKind kind) {
  if (is_frozen_) throw FrozenError("the shape environment is frozen: no new input");
  if (hint < 0) throw std::invalid_argument("a size cannot be negative");
  if (kind == SizeKind::kUnbacked) throw std::invalid_argument("an input has a size");
  if (!is_line(source)) throw std::invalid_argument("a source is a line of printable ASCII");
  if (inputs_.size() == kInputsMax || symbols_.size() == SizeExpr::kSymbolsMax)
    throw std::length_error("too many inputs");
  for (const Input& input : inputs_) {
    if (input.source == source) throw std::invalid_argument("the source is there already");
  }
  bool is_duck = kind == SizeKind::kDuck;
  SizeExpr expr(hint);
  if (kind == SizeKind::kDynamic || (is_duck && hint > 1)) {
    auto same = std::find_if(symbols_.begin(), symbols_.end(), [&](const Symbol& symbol) {
      return is_duck && symbol.kind == kind && symbol.hint == hint;
    });
    bool is_new = same == symbols_.end();
    expr = SizeExpr::symbol(static_cast<uint32_t>(same - symbols_.begin()));
    Range range{is_duck ? 2 : 0, Range::kNoLimit};
    inputs_.reserve(inputs_.size() + 1);
    if (is_new) symbols_.push_back({hint, range, range, kind});
  }
  inputs_.push_back({std::move(source), expr});
  return expr;
}

SizeExpr ShapeEnv::add_unbacked() {
  if (is_frozen_) throw FrozenError("the shape environment is frozen: no new symbol");
  if (symbols_.size() == SizeExpr::kSymbolsMax) throw std::length_error("too many symbols");
  symbols_.push_back({0, Range{}, Range{}, SizeKind::kUnbacked});
  return symbol(static_cast<uint32_t>(symbols_.size() - 1));
}

SizeExpr ShapeEnv::symbol(uint32_t number) const {
  bool is_unbacked = symbols_[number].kind == SizeKind::kUnbacked;
  return is_unbacked ? SizeExpr::unbacked(number) : SizeExpr::symbol(number);
}

bool ShapeEnv::has_symbols_of(const SizeExpr& expr) const {
  return !expr.any_symbol([&](const SizeExpr::Atom& atom) {
    return atom.symbol >= symbols_.size() ||
           symbol(atom.symbol).terms()[0].atoms[0].kind != atom.kind;
  });
}

int64_t ShapeEnv::hint(const SizeExpr& expr) const {
  SizeExpr simple = simplify(expr);
  if (simple.has_unbacked())
    throw DataDependentError("only the data decides this size: " + simple.text());
  std::vector<int64_t> values;
  for (const Symbol& symbol : symbols_) values.push_back(symbol.hint);
  return simple.evaluate(values);
}

bool ShapeEnv::is_implied(const Relation& relation) const {
  if (relation.expr.is_constant()) return relation.holds(relation.expr.constant());
  if (present_.contains(relation)) return true;
  auto range = range_of(relation.expr, symbols_);
  if (!range) return false;
  switch (relation.kind) {
    case Kind::kEqual: return range->low == 0 && range->high == 0;
    case Kind::kNotEqual: return !range->has(0);
    case Kind::kNotNegative: return range->low >= 0;
  }
  __builtin_unreachable();
}

std::optional<bool> ShapeEnv::known(const Relation& asked, const Relation& simple) const {
  // The range of a symbol may say more than that of what replaces it.
  for (const Relation* relation : {&simple, &asked}) {
    if (is_implied(*relation)) return true;
    if (is_implied(relation->negated())) return false;
  }
  return std::nullopt;
}

bool ShapeEnv::decide(const Relation& asked) {
  Relation relation{simplify(asked.expr), asked.kind};
  if (auto answer = known(asked, relation)) return *answer;
  bool result = relation.holds(hint(relation.expr));
  Relation guard = result ? relation : relation.negated();
  (void)hint(guard.expr);  // the negation may overflow, and then not even the example passes
  if (is_frozen_)
    throw FrozenError("the shape environment is frozen, and this needs a guard: " + guard.text());
  add_constraint(guard, /*is_assertion=*/false);
  return result;
}

void ShapeEnv::assert_later(const Relation& asked) {
  Relation relation{simplify(asked.expr), asked.kind};
  auto answer = known(asked, relation);
  if (!answer && !relation.expr.has_unbacked()) answer = decide(relation);
  if (answer == false) throw AssertionFailed("this is false: " + asked.text());
  if (answer == true) return;
  if (is_frozen_)
    throw FrozenError("the shape environment is frozen: no new assertion " + relation.text());
  add_constraint(relation, /*is_assertion=*/true);
}

int64_t ShapeEnv::specialize(const SizeExpr& expr) {
  int64_t value = hint(expr);
  (void)decide({expr - SizeExpr(value), Kind::kEqual});
  return value;
}

bool ShapeEnv::check(std::span<const int64_t> sizes,
                     std::optional<std::span<const int64_t>> unbacked) const {
  if (sizes.size() != inputs_.size())
    throw std::invalid_argument("one size is needed for each input");
  std::vector<int64_t> values(symbols_.size());
  std::vector<bool> is_bound(symbols_.size());
  for (size_t i = 0; i < sizes.size(); i++) {
    const SizeExpr& expr = inputs_[i].expr;
    if (expr.is_constant()) {
      if (sizes[i] != expr.constant()) return false;
      continue;
    }
    uint32_t symbol = expr.symbol_count() - 1;  // an input is one symbol
    if (!symbols_[symbol].first.has(sizes[i])) return false;
    if (is_bound[symbol] && values[symbol] != sizes[i]) return false;
    values[symbol] = sizes[i];
    is_bound[symbol] = true;
  }
  // Each other symbol is of an input.
  size_t taken = 0;
  for (size_t i = 0; unbacked && i < symbols_.size(); i++) {
    if (symbols_[i].kind == SizeKind::kUnbacked && taken++ < unbacked->size())
      values[i] = (*unbacked)[taken - 1];
  }
  if (unbacked && taken != unbacked->size())
    throw std::invalid_argument("one number is needed for each unbacked symbol");
  return std::all_of(constraints_.begin(), constraints_.end(), [&](const Constraint& constraint) {
    if (constraint.is_assertion && !unbacked) return true;
    try {
      return constraint.relation.holds(constraint.relation.expr.evaluate(values));
    } catch (const std::overflow_error&) {
      return false;  // the program would raise, which the example did not
    } catch (const std::domain_error&) {
      return false;
    }
  });
}

}  // namespace slotcore::meta
