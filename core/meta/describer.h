// MetaTensorDescriber: reads tensors into descriptions, and remembers which impl has which id.
//
// Describing changes nothing that can be asked of the tensors (M10): it wraps nothing, touches no
// slot, and makes no node for a stale view. It decides no size of a fake, if it is asked to keep
// symbols.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "core/meta/ids.h"
#include "core/meta/meta_tensor_desc.h"

namespace slotcore::meta {

using autograd::TensorPtr;

class MetaTensorDescriber {
 public:
  struct Options {
    bool copy_data = false;  // copy the bytes of all storages on cpu
    // Describe symbolic sizes as expressions. Otherwise they are decided: then the description
    // holds for the sizes of the example alone, and guards say so.
    bool keep_symbols = false;
    // Whether the class of a tensor's wrapper is Parameter; this layer knows no wrappers. Runs no
    // user code.
    std::function<bool(TensorImpl&)> is_parameter = [](TensorImpl&) { return false; };
  };

  // Describes the tensors and all that they lead to by base and `.grad`, in the order of first
  // visits. Throws invalid_argument for symbols of two environments, DataDependentError for a size
  // that only the data decides. Of several threads at once, all get the same ids. Changes no table
  // when it throws, or `use` does, which gets the description before (M14). The entries stay if
  // something else was described meanwhile.
  using DocumentPtr = std::shared_ptr<const Document>;
  using Use = std::function<void(const DocumentPtr&)>;
  DocumentPtr describe(std::span<const TensorPtr> roots, const Options& options,
                       const Use& use = {});

  uint64_t source() const noexcept { return source_; }
  // Forgets the tensors and storages that have died.
  void sweep();
  struct Sizes {
    size_t tensors, storages;
  };
  Sizes sizes() const;

 private:
  class Undo;

  const uint64_t source_ = next_source();
  mutable std::mutex mutex_;  // held while no reference is taken or dropped
  IdTable<TensorImpl> tensors_;
  IdTable<StorageImpl> storages_;
  IdTable<VersionCounter> versions_;
  uint64_t calls_ = 0;  // of describe()
};

}  // namespace slotcore::meta
