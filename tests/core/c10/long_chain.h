// The length of chains that must be freed without recursion. One frame per link, of 48 bytes or
// more, overflows a stack of 8 MiB. A million links are freed in the tests in Python, where no
// sanitizer makes each of them slow.
#pragma once

namespace slotcore {

constexpr int kLongChain = 200'000;

}  // namespace slotcore
