#!/usr/bin/env bash
# What `mutants` tells of a mutant that no hunt finds, on the build for coverage, which it makes.
# Usage: ci/reach_nightly.sh. See docs/mutants.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SLOTFUZZ_REACH=1
exec ./slotfuzz test --only test_reach
