// Operations of threads on impls of the installed libtorch: one scenario per question, each with a
// small table of operations. A scenario is constructed for each run; its threads are fibres or
// real.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace slotfuzz::c10_subject {

inline constexpr int kThreadsMax = 3;
inline constexpr int kOpsMax = 4;  // more per thread only make schedules longer

// A byte for each operation: its index in the scenario's table (modulo its size).
struct Plan {
  int threads = 2;
  std::array<std::vector<uint8_t>, kThreadsMax> ops;
};

class Scenario {
 public:
  virtual ~Scenario() = default;
  virtual void run(int thread) = 0;
  // Called after all threads. Returns the condition that does not hold, or null.
  virtual const char* finish() = 0;
};

struct Kind {
  std::string_view name;
  std::string_view sentence;
  std::vector<std::string_view> ops;
  std::unique_ptr<Scenario> (*make)(const Plan&);
};

// All scenarios; the first is the default.
const std::vector<Kind>& kinds();

Kind claim_kind();
Kind weak_claim_kind();
Kind counts_kind();
Kind disarm_kind();
Kind load_kind();

}  // namespace slotfuzz::c10_subject
