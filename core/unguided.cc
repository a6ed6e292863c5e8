// The core is compiled with coverage counters for libFuzzer. A program that is linked without
// libFuzzer and without a sanitizer's runtime needs these empty functions to receive them.

#include <cstdint>

extern "C" {
void __sanitizer_cov_8bit_counters_init(char*, char*);
void __sanitizer_cov_pcs_init(const uintptr_t*, const uintptr_t*);

void __sanitizer_cov_8bit_counters_init(char*, char*) {}
void __sanitizer_cov_pcs_init(const uintptr_t*, const uintptr_t*) {}
}
