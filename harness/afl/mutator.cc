// A target as a shared library in afl-fuzz, whose mutators there are the target's own: AFL++'s
// interface for custom mutators, over libFuzzer's. Bytes that AFL++ changes by itself seldom make a
// line that is one; docs/fleets.md has what that costs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

extern "C" {
int LLVMFuzzerInitialize(int* argc, char*** argv);
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                    unsigned seed);
std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                      const std::uint8_t* second, std::size_t second_size,
                                      std::uint8_t* out, std::size_t size_max, unsigned seed);
void* afl_custom_init(void* fuzzer, unsigned seed);
std::size_t afl_custom_fuzz(void* state, std::uint8_t* data, std::size_t size, std::uint8_t** out,
                            std::uint8_t* other, std::size_t other_size, std::size_t size_max);
void afl_custom_deinit(void* state);
}

namespace {

// As libFuzzer has it by default. AFL++ allows a megabyte, of which a program is never made.
constexpr std::size_t kBytesMax = 4096;

struct Mutator {
  std::mt19937 random;
  std::vector<std::uint8_t> text;
};

}  // namespace

void* afl_custom_init(void*, unsigned seed) {
  static char name[] = "afl-fuzz";
  static char* words[] = {name, nullptr};
  int count = 1;
  char** arguments = words;
  LLVMFuzzerInitialize(&count, &arguments);
  return new Mutator{std::mt19937(seed), std::vector<std::uint8_t>(kBytesMax)};
}

// OUT is ours until the next call.
std::size_t afl_custom_fuzz(void* state, std::uint8_t* data, std::size_t size, std::uint8_t** out,
                            std::uint8_t* other, std::size_t other_size, std::size_t size_max) {
  Mutator& mutator = *static_cast<Mutator*>(state);
  const std::size_t length_max = std::min(size_max, kBytesMax);
  const std::size_t length = std::min(size, length_max);
  *out = mutator.text.data();
  const bool crosses = other != nullptr && other_size > 0 && mutator.random() % 2 == 0;
  if (crosses) {
    return LLVMFuzzerCustomCrossOver(data, length, other, other_size, *out, length_max,
                                     static_cast<unsigned>(mutator.random()));
  }
  std::copy_n(data, length, *out);
  return LLVMFuzzerCustomMutator(*out, length, length_max, static_cast<unsigned>(mutator.random()));
}

void afl_custom_deinit(void* state) { delete static_cast<Mutator*>(state); }
