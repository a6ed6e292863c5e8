// The core is compiled with coverage counters for libFuzzer. A program without libFuzzer and
// without a sanitizer's runtime has nobody to register them with; here that is nobody.

#include <cstdint>

extern "C" {
void __sanitizer_cov_8bit_counters_init(char*, char*);
void __sanitizer_cov_pcs_init(const uintptr_t*, const uintptr_t*);

void __sanitizer_cov_8bit_counters_init(char*, char*) {}
void __sanitizer_cov_pcs_init(const uintptr_t*, const uintptr_t*) {}
}
