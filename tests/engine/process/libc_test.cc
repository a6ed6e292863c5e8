// A double free is reported in a build without ASan: tests/steps runs this in the plain build.
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

TEST(libc, a_block_freed_twice_is_reported) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "free() is the sanitizer's own";
#endif
  EXPECT_DEATH(
      {
        void* volatile block = std::malloc(40);
        std::free(block);
        std::free(block);
      },
      "freed twice");
}

}  // namespace
