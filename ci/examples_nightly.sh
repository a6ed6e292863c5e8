#!/usr/bin/env bash
# Runs every example of each -h, of README.md and of docs/, including those that take minutes.
# Usage: ci/examples_nightly.sh, as root. See docs/ci.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ((EUID != 0)); then
  echo "examples_nightly: a mount namespace takes root; run it as root" >&2
  exit 2
fi
export SLOTFUZZ_EXAMPLES=all
exec ./slotfuzz test --only each_example
