// The device of the nodes that this thread makes. A device is a thread of the engine, which runs
// those nodes in a backward; the core has no other devices. The engine sets it while a node runs.
#pragma once

namespace slotcore::autograd {

inline constexpr int kDevicesMax = 2;
// Of nodes that run on the thread that calls backward.
inline constexpr int kNoDevice = -1;

struct CurrentDevice {
  static int get() noexcept { return current; }
  static void set(int device) noexcept { current = device; }

 private:
  static inline constinit thread_local int current = kNoDevice;
};

// Sets it, and restores the former one at the end of a scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) noexcept : former_(CurrentDevice::get()) {
    CurrentDevice::set(device);
  }
  ~DeviceGuard() { CurrentDevice::set(former_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int former_;
};

}  // namespace slotcore::autograd
