// What a relation says of a value, its negation, and its text.

#include "core/meta/sizes/relation.h"

#include <algorithm>

namespace slotcore::meta {

namespace {

// Of an equation that begins with a negative coefficient, all have the other sign. INT64_MIN is
// its own negative.
bool is_turned(const Relation& relation) noexcept {
  if (relation.kind == Relation::Kind::kNotNegative) return false;
  for (const SizeExpr::Term& term : relation.expr.terms()) {
    if (term.coefficient != INT64_MIN) return term.coefficient < 0;
  }
  return false;
}

}  // namespace

bool RelationOrder::operator()(const Relation& a, const Relation& b) const noexcept {
  if (a.kind != b.kind) return a.kind < b.kind;
  bool turns[] = {is_turned(a), is_turned(b)};
  auto coefficient = [](const SizeExpr::Term& term, bool turn) {
    auto bits = static_cast<uint64_t>(term.coefficient);
    return turn ? 0 - bits : bits;
  };
  auto order = [&](const SizeExpr::Term& one, const SizeExpr::Term& other) {
    auto atoms = one.atoms <=> other.atoms;
    return atoms != 0 ? atoms : coefficient(one, turns[0]) <=> coefficient(other, turns[1]);
  };
  const auto &terms = a.expr.terms(), &others = b.expr.terms();
  return std::lexicographical_compare_three_way(terms.begin(), terms.end(), others.begin(),
                                                others.end(), order) < 0;
}

bool Relation::holds(int64_t value) const noexcept {
  switch (kind) {
    case Kind::kEqual: return value == 0;
    case Kind::kNotEqual: return value != 0;
    case Kind::kNotNegative: return value >= 0;
  }
  __builtin_unreachable();
}

Relation Relation::negated() const {
  switch (kind) {
    case Kind::kEqual: return {expr, Kind::kNotEqual};
    case Kind::kNotEqual: return {expr, Kind::kEqual};
    case Kind::kNotNegative: return {SizeExpr(-1) - expr, Kind::kNotNegative};
  }
  __builtin_unreachable();
}

std::string Relation::text() const {
  switch (kind) {
    case Kind::kEqual: return expr.text() + " == 0";
    case Kind::kNotEqual: return expr.text() + " != 0";
    case Kind::kNotNegative: return expr.text() + " >= 0";
  }
  __builtin_unreachable();
}

}  // namespace slotcore::meta
