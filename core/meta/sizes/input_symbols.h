// InputSymbols: gives the sizes of a tensor symbols. All that a layout depends on is an input of
// the environment, so that check() can ask it of other tensors: sizes, strides, offset, bytes. A
// source is the expression of Python that reads the input of a tensor, such as "t0.size(1)".
#pragma once

#include "core/meta/sizes/env_savepoint.h"

namespace slotcore::meta {

class InputSymbols {
 public:
  // In sources. If it is known, the environment has the inputs already: they are looked up.
  struct Name {
    std::string text;
    bool is_known = false;
  };

  // Sizes are of this kind. Strides, the offset and bytes that follow from sizes are a guard and
  // have no symbol of their own.
  InputSymbols(EnvPtr env, SizeKind kind);

  // The name that the environment has for this key; else the new one, if the inputs are kept.
  Name named(const std::string& key, std::string new_name);
  // Throw what ShapeEnv::add_input() and decide() throw.
  SymLayout layout(const Layout& layout, const Name& tensor);
  // `whole` is the size that the storage should have, if there is a tensor that fills it.
  SymInt nbytes(int64_t nbytes, const std::optional<SymInt>& whole, const Name& storage);
  // Otherwise the inputs are removed again; see EnvSavepoint. Changes nothing if it throws.
  void keep();

 private:
  SizeExpr add(int64_t value, const Name& source, SizeKind kind);
  // An input that is `expected` for the example, or is no expression of others.
  SizeExpr add_expected(int64_t value, const std::optional<SizeExpr>& expected, const Name& source);

  const EnvPtr env_;
  const SizeKind kind_;
  EnvSavepoint savepoint_{env_};
  std::unordered_map<std::string, std::string> names_;  // new ones, by their keys
};

}  // namespace slotcore::meta
