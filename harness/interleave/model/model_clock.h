// A vector clock over the threads of one execution: eight lanes of 16 bits, so that joining and
// comparing take a few instructions. Threads are numbered from 0. The set-up and the finish are not
// threads, because everything is ordered after the set-up and before the finish.
#pragma once

#include <cstdint>
#include <cstring>

namespace slotfuzz::interleave {

constexpr int kThreadsMax = 8;
constexpr int16_t kNever = 32767;

class Clock {
 public:
  static Clock all(int16_t value) {
    Clock clock;
    clock.lanes_ = Lanes{} + value;
    return clock;
  }

  int16_t operator[](int thread) const { return lanes_[thread]; }
  // Uses a mask instead of a 16-bit store: the next operation loads all lanes at once, and a
  // processor that waits for a part of them in its store buffer loses a dozen cycles.
  void set(int thread, int16_t value) {
    const Lanes lane = Lanes{0, 1, 2, 3, 4, 5, 6, 7} == static_cast<int16_t>(thread);
    lanes_ = (lanes_ & ~lane) | ((Lanes{} + value) & lane);
  }
  void join(const Clock& other) { lanes_ = lanes_ > other.lanes_ ? lanes_ : other.lanes_; }
  // Some lane of this clock is at most the same lane of the other.
  bool reaches_any_of(const Clock& other) const { return any(lanes_ <= other.lanes_); }
  // Some lane of this clock is beyond the same lane of the other.
  bool exceeds(const Clock& other) const { return any(lanes_ > other.lanes_); }

 private:
  typedef int16_t Lanes __attribute__((vector_size(kThreadsMax * sizeof(int16_t))));

  template <class Mask>
  static bool any(Mask mask) {
    uint64_t halves[2];
    static_assert(sizeof halves == sizeof mask);
    std::memcpy(halves, &mask, sizeof mask);
    return (halves[0] | halves[1]) != 0;
  }

  Lanes lanes_{};
};

}  // namespace slotfuzz::interleave
