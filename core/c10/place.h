// Place: where a tensor is. A real tensor is on a device. A fake of a mode says that it is on a
// device, and has no bytes: its storage has a size only, and owns the mode. Operations make their
// results at the place of their operands, so what a fake gives is a fake of the same mode.
#pragma once

#include <string>

#include "core/c10/device.h"
#include "core/c10/impl/torch_dispatch_mode_tls.h"

namespace slotcore {

struct Place {
  Place(Device device = Device::kCpu, impl::ModePtr mode = nullptr) noexcept
      : device(device), mode(std::move(mode)) {}

  bool operator==(const Place& other) const noexcept {
    return device == other.device && mode == other.mode;
  }
  bool has_bytes() const noexcept { return device == Device::kCpu && !mode; }
  // For messages.
  std::string text() const { return name_of(device) + std::string(mode ? " (fake)" : ""); }

  Device device;
  impl::ModePtr mode;  // null for a real tensor
};

}  // namespace slotcore
