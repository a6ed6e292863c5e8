// The text of expressions, and its parser. A text that is read is rebuilt by the operations, so it
// need not be in the one form.

#include <charconv>
#include <stdexcept>

#include "core/meta/sizes/size_expr.h"

namespace slotcore::meta {
namespace {

using Atom = SizeExpr::Atom;

std::string text_of(const Atom& atom) {
  switch (atom.kind) {
    case Atom::Kind::kSymbol: return "s" + std::to_string(atom.symbol);
    case Atom::Kind::kUnbacked: return "u" + std::to_string(atom.symbol);
    case Atom::Kind::kFloorDiv:
      return "((" + atom.left->text() + ") // (" + atom.right->text() + "))";
    case Atom::Kind::kMod: return "((" + atom.left->text() + ") % (" + atom.right->text() + "))";
    case Atom::Kind::kMax: return "max(" + atom.left->text() + ", " + atom.right->text() + ")";
  }
  __builtin_unreachable();
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  SizeExpr run() {
    SizeExpr result = sum(0);
    if (!rest_.empty()) fail();
    return result;
  }

 private:
  SizeExpr sum(size_t depth) {
    SizeExpr result = product(depth);
    while (take(" + ")) result = result + product(depth);
    return result;
  }
  SizeExpr product(size_t depth) {
    SizeExpr result = factor(depth);
    while (take("*")) result = result * factor(depth);
    return result;
  }
  SizeExpr factor(size_t depth) {
    if (take("((")) {
      if (depth == SizeExpr::kDepthMax) fail();
      SizeExpr left = sum(depth + 1);
      bool is_mod = take(") % (");
      if (!is_mod && !take(") // (")) fail();
      SizeExpr right = sum(depth + 1);
      if (!take("))")) fail();
      return is_mod ? left.mod(right) : left.floor_div(right);
    }
    if (take("max(")) {
      if (depth == SizeExpr::kDepthMax) fail();
      SizeExpr left = sum(depth + 1);
      if (!take(", ")) fail();
      SizeExpr right = sum(depth + 1);
      if (!take(")")) fail();
      return left.max(right);
    }
    if (take("u")) return SizeExpr::unbacked(symbol());
    if (take("s")) return SizeExpr::symbol(symbol());
    return SizeExpr(number<int64_t>());
  }
  uint32_t symbol() {
    uint32_t value = number<uint32_t>();
    if (value >= SizeExpr::kSymbolsMax) fail();
    return value;
  }
  template <class Number>
  Number number() {
    Number value;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail();
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  [[noreturn]] void fail() const {
    throw std::invalid_argument("no expression of sizes begins with \"" +
                                std::string(rest_.substr(0, 20)) + "\"");
  }

  std::string_view rest_;
};

}  // namespace

std::string SizeExpr::text() const {
  std::string text;
  for (const Term& term : terms_) {
    if (!text.empty()) text += " + ";
    bool shows_one = term.atoms.empty() || term.coefficient != 1;
    if (shows_one) text += std::to_string(term.coefficient);
    for (size_t i = 0; i < term.atoms.size(); i++)
      text += (i > 0 || shows_one ? "*" : "") + text_of(term.atoms[i]);
  }
  return text.empty() ? "0" : text;
}

SizeExpr SizeExpr::parse(std::string_view text) { return Parser(text).run(); }

}  // namespace slotcore::meta
