#!/usr/bin/env bash
# The mutation score: hunts every mutant that rules make of the core, or a sample of them.
# Usage: ci/mutation_nightly.sh [SAMPLE]. See docs/detection.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec ./slotfuzz bench mutation --sample "${1:-100000}"
