// Strong and weak references of one storage, on threads (contract P4, P7, R1).

#include <optional>

#include "targets/c10/headers.h"
#include "targets/c10/scenario.h"

namespace slotfuzz::c10_subject {
namespace {

using Storage = c10::intrusive_ptr<c10::StorageImpl>;
using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

enum Op { kCopy, kDrop, kLock, kRead, kDropWeak, kOps };

// On the heap, so that AddressSanitizer detects a late read.
struct Bytes {
  uint8_t content = 7;
  int* deaths;
};

class CountsScenario final : public Scenario {
 public:
  explicit CountsScenario(const Plan& plan) : plan_(plan) {
    auto* bytes = new Bytes{7, &deaths_};
    c10::DataPtr data(&bytes->content, bytes, &delete_bytes, c10::Device(c10::kCPU));
    auto storage = c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), c10::SymInt(1), std::move(data), nullptr, false);
    for (int thread = 0; thread < plan.threads; ++thread) {
      lanes_[thread].strong = storage;
      lanes_[thread].weak.emplace(storage);
    }
  }

  void run(int thread) override {
    Lane& lane = lanes_[thread];
    int line = 0;
    for (uint8_t op : plan_.ops[thread]) {
      interleave::FibreScheduler::begin_line(++line);
      step(lane, static_cast<Op>(op % kOps));
    }
  }

  const char* finish() override {
    for (Lane& lane : lanes_) lane = Lane{};
    return deaths_ == 1 ? nullptr : "P5: the bytes did not die once";
  }

 private:
  struct Lane {
    Storage strong;
    std::optional<WeakStorage> weak;
    bool expired = false;
  };

  static void delete_bytes(void* context) {
    auto* bytes = static_cast<Bytes*>(context);
    ++*bytes->deaths;
    delete bytes;
  }

  static void step(Lane& lane, Op op) {
    switch (op) {
      case kCopy: {
        Storage copy = lane.strong;
        return read(copy);
      }
      case kDrop: return lane.strong.reset();
      case kLock: return lock(lane);
      case kRead: return read(lane.strong);
      case kDropWeak: return lane.weak.reset();
      case kOps: return;
    }
  }

  static void lock(Lane& lane) {
    if (!lane.weak) return;
    Storage locked = lane.weak->lock();
    if (lane.expired && locked) interleave::FibreScheduler::stop("P4: an expired one came back");
    if (!locked && lane.strong) interleave::FibreScheduler::stop("P4: a lock failed with an owner");
    lane.expired = !locked;
    read(locked);
    if (!lane.strong) lane.strong = std::move(locked);
  }

  static void read(const Storage& storage) {
    if (!storage) return;
    if (storage.use_count() == 0) interleave::FibreScheduler::stop("P7: an owner is not counted");
    const auto* byte = static_cast<const uint8_t*>(storage->data_ptr().get());
    if (*byte != 7) interleave::FibreScheduler::stop("the bytes are not those that were stored");
  }

  const Plan& plan_;
  int deaths_ = 0;
  std::array<Lane, kThreadsMax> lanes_;
};

}  // namespace

Kind counts_kind() {
  return {"counts",
          "strong and weak references of one storage (P4, P7)",
          {"copy", "drop", "lock", "read", "drop-weak"},
          [](const Plan& plan) -> std::unique_ptr<Scenario> {
            return std::make_unique<CountsScenario>(plan);
          }};
}

}  // namespace slotfuzz::c10_subject
