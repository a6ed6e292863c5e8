#!/usr/bin/env bash
# Tests the output of `mutants` for a mutant that no hunt finds, on the coverage build, which it
# makes.
# Usage: ci/reach_nightly.sh. See docs/mutants.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SLOTFUZZ_REACH=1
exec ./slotfuzz test --only test_reach
