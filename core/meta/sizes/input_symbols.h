// InputSymbols: gives the sizes of a tensor symbols. All that a layout depends on is an input of
// the environment, so that check() can ask it of other tensors: sizes, strides, offset, bytes. A
// source is the expression of Python that reads the input of a tensor, such as "t0.size(1)".
#pragma once

#include "core/meta/sizes/env_savepoint.h"

namespace slotcore::meta {

class InputSymbols {
 public:
  // Sizes are of this kind. Strides, the offset and bytes that follow from sizes are a guard and
  // have no symbol of their own. With `are_known` the environment has the inputs already: they are
  // looked up by their sources.
  InputSymbols(EnvPtr env, SizeKind kind, bool are_known = false);

  // Throw what ShapeEnv::add_input() and decide() throw.
  SymLayout layout(const Layout& layout, const std::string& tensor);
  // `whole` is the size that the storage should have, if there is a tensor that fills it.
  SymInt nbytes(int64_t nbytes, const std::optional<SymInt>& whole, const std::string& storage);
  // Otherwise the inputs are removed again; see EnvSavepoint.
  void keep() noexcept { savepoint_.keep(); }

 private:
  SizeExpr add(int64_t value, std::string source, SizeKind kind);
  // An input that is `expected` for the example, or is no expression of others.
  SizeExpr add_expected(int64_t value, const std::optional<SizeExpr>& expected, std::string source);

  const EnvPtr env_;
  const SizeKind kind_;
  const bool are_known_;
  EnvSavepoint savepoint_{env_};
};

}  // namespace slotcore::meta
