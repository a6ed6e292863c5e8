// OpCache: the results of operations in a mode, by what the operations were asked. It has layouts,
// and which operand a result shares its storage with, but no tensor.
//
// What an operation decides about symbols is a guard of the mode's environment, which stays; so a
// result that is remembered needs no decision again. A result is not remembered if the data decides
// its size, since each has a symbol of its own, or if it has to do with symbols of another
// environment (M15).
#pragma once

#include <functional>
#include <mutex>
#include <unordered_map>

#include "core/c10/tensor/operation.h"

namespace slotcore::meta {

class OpCache {
 public:
  // Beyond these, all entries are forgotten.
  static constexpr size_t kEntriesMax = 1024;

  using TensorPtr = intrusive_ptr<TensorImpl>;

  // What `run` gives, or what it gave for operands of this mode with equal layouts. Throws what it
  // throws; then nothing is remembered.
  TensorPtr result_of(const OpCall& call, impl::TorchDispatchMode& mode,
                      const std::function<TensorPtr()>& run);
  void clear();

  struct Info {
    uint64_t hits = 0, misses = 0;
    size_t size = 0;
  };
  Info info() const;

 private:
  // What a result shares with the operand whose storage it has.
  enum class Sharing { kNothing, kStorage, kVersion, kBase };
  struct Entry {
    Sharing sharing = Sharing::kNothing;
    size_t operand = 0;
    SymLayout layout;
    SymInt nbytes;  // of a storage of its own
    ScalarType type = ScalarType::float32;
    ValueBits bits;
    Device device = Device::kCpu;
  };

  static Entry entry_of(const OpCall& call, const TensorImpl& result);
  static TensorPtr made(const Entry& entry, const OpCall& call, const impl::ModePtr& mode);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace slotcore::meta
