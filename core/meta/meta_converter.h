// MetaConverter: from descriptions to fakes, which are tensors on meta. It sees a description and
// nothing else (M1), and remembers which fake stands for what.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "core/meta/memo.h"
#include "core/meta/meta_tensor_desc.h"
#include "core/meta/sizes/shared_env.h"

namespace slotcore::meta {

using autograd::TensorPtr;

// What a fake was made from. It stands for its tensor as long as the description is equal, and so
// are those of what the tensor refers to (M9). Each entry has a number of its own, and references
// are compared by these: the fake of a base may have been replaced since.
struct StorageMemo {
  MetaStorageDesc row;  // without bytes
  uint64_t number;
  SizeKind kind;  // that of the symbols that it has
};
struct VersionMemo {
  uint32_t version;
  uint64_t number;
};
struct TensorMemo {
  MetaTensorDesc row;  // without references
  uint64_t number;
  uint64_t storage, version, base, grad;  // numbers, 0 for none
  SizeKind kind;
};

// What sizes of fakes become: ints without an environment.
struct Symbols {
  EnvPtr env;
  SizeKind kind = SizeKind::kStatic;
  // The names of the roots in sources; without them, the environment numbers tensors.
  std::vector<std::string> names = {};
  // Whether the environment has these inputs already, so that the sizes get their symbols again.
  bool are_known = false;
  // Whether it is a copy of the document's environment: sizes are the document's expressions.
  bool is_documents = false;
};

class MetaConverter {
 public:
  // Without a mode, fakes are plain tensors on meta. A mode owns its converter.
  explicit MetaConverter(impl::TorchDispatchMode* mode = nullptr) noexcept : mode_(mode) {}

  // For the layer that has wrappers. Of the fakes that a call made, those need one that stand for a
  // Parameter, and those that own a gradient: a circle of grads can be broken only by who sees it.
  struct ToWrap {
    TensorPtr fake;
    bool is_parameter;
  };
  struct Converted {
    std::vector<TensorPtr> roots;
    std::vector<ToWrap> to_wrap;
  };

  // The fakes of the roots. `document` passes check() of desc_check.h. Any thread may call it; all
  // get the same fakes (M18). Changes no table and no environment when it throws (M14), or `use`
  // does, which gets the fakes before. It gets others if another thread was faster.
  using Use = std::function<void(const Converted&)>;
  Converted convert(const Document& document, const Symbols& symbols = {}, const Use& use = {});

  // Forgets the fakes that have died.
  void sweep();
  struct Sizes {
    size_t tensors, storages;
  };
  Sizes sizes() const;
  impl::TorchDispatchMode* mode() const noexcept { return mode_; }

 private:
  friend class Conversion;

  impl::TorchDispatchMode* const mode_;
  mutable std::mutex mutex_;  // Note [No strong reference under the mutex]
  MemoTable<TensorImpl, TensorMemo> tensors_;
  MemoTable<StorageImpl, StorageMemo> storages_;
  MemoTable<VersionCounter, VersionMemo> versions_;
  uint64_t changes_ = 0;  // of the tables, apart from sweeps
};

}  // namespace slotcore::meta
