// SizeExpr: an integer expression over symbols in one form. It is a sum of products of atoms with
// coefficients; an atom is a symbol, a floor division, a remainder or a maximum. Equal sums are
// equal objects: terms and atoms have an order of their own, which no address decides (M12).
//
// Symbols are numbered together. One that stands for the size of an example is written s3; one that
// stands for a number from data, which no example gives, is unbacked and written u3.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace slotcore::meta {

class SizeExpr {
 public:
  // Beyond these an expression is a length_error: a program may multiply for ever.
  static constexpr size_t kTermsMax = 64, kDegreeMax = 8, kDepthMax = 6;
  static constexpr uint32_t kSymbolsMax = 2048;

  struct Atom;
  struct Term {
    std::vector<Atom> atoms;  // in order, with repetition; none for the constant
    int64_t coefficient;
  };

  SizeExpr() = default;  // 0
  explicit SizeExpr(int64_t constant);
  static SizeExpr symbol(uint32_t number);
  static SizeExpr unbacked(uint32_t number);

  // Throw overflow_error, and length_error for an expression that is too large.
  SizeExpr operator+(const SizeExpr& other) const;
  SizeExpr operator-(const SizeExpr& other) const;
  SizeExpr operator*(const SizeExpr& other) const;
  // As in Python: rounded down, and a remainder has the sign of the divisor. Throw domain_error for
  // the divisor 0.
  SizeExpr floor_div(const SizeExpr& divisor) const;
  SizeExpr mod(const SizeExpr& divisor) const;
  SizeExpr max(const SizeExpr& other) const;
  SizeExpr min(const SizeExpr& other) const;

  // The value where symbol i has values[i]. Throws overflow_error and domain_error.
  int64_t evaluate(std::span<const int64_t> values) const;
  // The same expression with `by` in place of a symbol.
  SizeExpr substitute(uint32_t symbol, const SizeExpr& by) const;

  bool is_constant() const noexcept;
  int64_t constant() const noexcept;  // the term without atoms
  // The largest number of a symbol in it, plus 1.
  uint32_t symbol_count() const noexcept;
  // Whether the test is true of a symbol anywhere in it.
  template <class Test>
  bool any_symbol(Test test) const;
  bool has_symbol(uint32_t number) const noexcept;
  bool has_unbacked() const noexcept;
  const std::vector<Term>& terms() const noexcept { return terms_; }

  std::strong_ordering operator<=>(const SizeExpr& other) const noexcept;
  bool operator==(const SizeExpr& other) const noexcept { return (*this <=> other) == 0; }
  // An expression of Python, such as "2*s0*s1 + (s0 // 4) + -3".
  std::string text() const;
  // Reads what text() has written. Throws invalid_argument.
  static SizeExpr parse(std::string_view text);

 private:
  static SizeExpr of_atom(Atom atom);
  static SizeExpr divided(const SizeExpr& dividend, const SizeExpr& divisor, bool is_mod);
  size_t depth() const noexcept;
  void add(const Term& term);

  std::vector<Term> terms_;  // in order, no coefficient is 0
};

struct SizeExpr::Atom {
  enum class Kind : uint8_t { kSymbol, kUnbacked, kFloorDiv, kMod, kMax };

  Kind kind = Kind::kSymbol;
  uint32_t symbol = 0;
  std::shared_ptr<const SizeExpr> left, right;  // of all but symbols

  bool is_symbol() const noexcept { return kind == Kind::kSymbol || kind == Kind::kUnbacked; }

  std::strong_ordering operator<=>(const Atom& other) const noexcept;
  bool operator==(const Atom& other) const noexcept { return (*this <=> other) == 0; }
};

template <class Test>
bool SizeExpr::any_symbol(Test test) const {
  for (const Term& term : terms_) {
    for (const Atom& atom : term.atoms) {
      bool is_met = atom.is_symbol() ? test(atom)
                                     : atom.left->any_symbol(test) || atom.right->any_symbol(test);
      if (is_met) return true;
    }
  }
  return false;
}

// Throw overflow_error, and domain_error for the divisor 0.
int64_t add_sizes(int64_t a, int64_t b);
int64_t multiply_sizes(int64_t a, int64_t b);
int64_t floor_div_sizes(int64_t a, int64_t b);
int64_t mod_sizes(int64_t a, int64_t b);

}  // namespace slotcore::meta
