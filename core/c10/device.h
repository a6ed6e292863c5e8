// Device: where the bytes of a storage are. A meta storage has a size and no bytes, so a tensor on
// it has a layout and no numbers. Operations give its results the same layouts as on cpu, because
// both use the same code for layouts; only the loops over elements are left out.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace slotcore {

enum class Device : uint8_t { kCpu, kMeta };

inline constexpr Device kDevices[] = {Device::kCpu, Device::kMeta};

// Its name in Python and in messages.
constexpr const char* name_of(Device device) noexcept {
  switch (device) {
    case Device::kCpu: return "cpu";
    case Device::kMeta: return "meta";
  }
  __builtin_unreachable();
}

// Something needs numbers that a meta tensor does not have (M7). As in torch, a runtime_error.
class NoDataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace slotcore
