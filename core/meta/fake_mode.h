// FakeMode: what FakeTensorMode is in Python. While a thread is in it, operations take its fakes
// only, and factories make fakes; core/c10/tensor/announce.h has the rules.
//
// A fake says that it is on the device of its tensor, and owns the mode by its storage. The mode
// owns the tables, which refer to fakes weakly, so there is no cycle.
#pragma once

#include "core/c10/impl/torch_dispatch_mode_tls.h"
#include "core/c10/live_counts.h"
#include "core/meta/describer.h"
#include "core/meta/meta_converter.h"
#include "core/meta/op_cache.h"

namespace slotcore::meta {

class FakeMode final : public impl::TorchDispatchMode {
 public:
  // With an environment, sizes of fakes may be symbols of it.
  explicit FakeMode(EnvPtr env = nullptr) noexcept : env(std::move(env)) { live_modes.add(); }
  ~FakeMode() override { live_modes.remove(); }

  intrusive_ptr<TensorImpl> result_of(
      const OpCall& call, const std::function<intrusive_ptr<TensorImpl>()>& run) override {
    return cache.result_of(call, *this, run);
  }

  const EnvPtr env;

  MetaTensorDescriber describer;
  MetaConverter converter{this};
  OpCache cache;

  // The Python object of this mode in one interpreter, so that `fake.fake_mode is mode`. The layer
  // that has wrappers reads and writes it with `mutex` held.
  struct Handle {
    std::mutex mutex;
    const void* interpreter = nullptr;
    void* object = nullptr;  // borrowed: it removes itself
  };
  Handle handle;
};

// The mode of a fake; null for a real tensor.
inline intrusive_ptr<FakeMode> mode_of(const TensorImpl& tensor) noexcept {
  // There is no other kind of mode.
  auto* mode = static_cast<FakeMode*>(tensor.place().mode.get());
  return mode == nullptr ? nullptr : intrusive_ptr<FakeMode>::retain(mode);
}

}  // namespace slotcore::meta
