// What is freed twice is told, with a sanitizer or without.
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

TEST(libc, a_block_freed_twice_is_told) {
  EXPECT_DEATH(
      {
        void* volatile block = std::malloc(40);
        std::free(block);
        std::free(block);
      },
      "double-free|freed twice|double free");
}

}  // namespace
