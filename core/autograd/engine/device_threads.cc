// Start and end of the threads.

#include "core/autograd/engine/device_threads.h"

#include <pthread.h>

#include <array>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/autograd/current_device.h"
#include "core/autograd/engine/run_task.h"
#include "core/c10/check.h"

namespace slotcore::autograd {
namespace {

class DeviceThreads {
 public:
  static DeviceThreads& current() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] {
      // Other threads may have held locks of the former one, which has threads that are not here.
      instance() = new DeviceThreads;
    });
    SLOTCORE_CHECK(registered == 0);
    return *instance();
  }

  TaskQueue& queue(int device) { return at(device).queue; }

  bool push(int device, NodeTask& task) {
    {
      std::lock_guard lock(mutex_);
      if (has_ended_) return false;
      std::thread& thread = at(device).thread;
      try {
        if (!thread.joinable())
          thread = std::thread(&serve_device, device, std::ref(at(device).queue));
      } catch (const std::system_error&) {
        return false;
      }
    }
    return at(device).queue.push_unless_ended(task);
  }

  void end() noexcept {
    {
      std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    for (Device& device : devices_) device.queue.end();
    for (Device& device : devices_) {
      if (device.thread.joinable()) device.thread.join();
    }
  }

 private:
  struct Device {
    TaskQueue queue;
    std::thread thread;
  };

  // Leaked on purpose: the threads use it until the process ends.
  static DeviceThreads*& instance() {
    static DeviceThreads* made = new DeviceThreads;
    return made;
  }

  Device& at(int device) {
    SLOTCORE_CHECK(device >= 0 && device < kDevicesMax);
    return devices_[static_cast<size_t>(device)];
  }

  std::array<Device, kDevicesMax> devices_;
  std::mutex mutex_;  // guards the start of threads
  bool has_ended_ = false;
};

}  // namespace

TaskQueue& queue_of_device(int device) { return DeviceThreads::current().queue(device); }

bool push_to_device(int device, NodeTask& task) {
  return DeviceThreads::current().push(device, task);
}

void end_device_threads() noexcept { DeviceThreads::current().end(); }

}  // namespace slotcore::autograd
