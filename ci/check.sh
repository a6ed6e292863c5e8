#!/usr/bin/env bash
# The quick gate for each commit: builds with sanitizers, runs the unit tests and the style rules.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec ./slotfuzz test --only \
  "style or driver or core_tests or engine_tests"
